/* SPDX-License-Identifier: MIT */
/* Provider accounts on cooldown, as text. */
#ifndef CLIENT_COOLDOWN_COMMAND_H
#define CLIENT_COOLDOWN_COMMAND_H

#include <jansson.h>

/* For an account, or an event of type "cooldown": "exhausted until 2026-11-22 22:52:00 (in 2h 10m):
 * limit: ...", or "available". The caller frees. */
char *cooldown_text(const json_t *account);

/* The same as a sentence about an event: "Account anthropic is exhausted until ...", "Account
 * anthropic is available again". */
char *cooldown_sentence(const json_t *event);

#endif
