/* SPDX-License-Identifier: MIT */
/* rlctl watch where there is no screen: a line for each event. */
#ifndef CLIENT_WATCH_LINES_H
#define CLIENT_WATCH_LINES_H

#include <stdint.h>

struct client;

/* Until the run has ended; all of them (FIELD_NONE): for ever. Returns the exit code. */
int watch_lines(struct client *c, int64_t run);

#endif
