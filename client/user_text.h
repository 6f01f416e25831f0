/* SPDX-License-Identifier: MIT */
/* Names of the users of this host, where a text of the daemon has their numbers. */
#ifndef CLIENT_USER_TEXT_H
#define CLIENT_USER_TEXT_H

#include <stdint.h>

/* The daemon is on another machine, whose users have no names here. */
void user_text_elsewhere(void);

/* Name, or "uid 1000". malloc'd. */
char *user_text(int64_t uid);

/* "cancelled by uid 1000" as "cancelled by ann"; any other text as it is. malloc'd. */
char *user_text_in(const char *text);

#endif
