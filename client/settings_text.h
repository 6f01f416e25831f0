/* SPDX-License-Identifier: MIT */
/* The settings of a run as text; the caller frees. */
#ifndef CLIENT_SETTINGS_TEXT_H
#define CLIENT_SETTINGS_TEXT_H

#include <jansson.h>

/* The members "agents" and "review" of a run: "implement claude, review a + b (quorum all), fix
 * codex (gpt-5)". */
char *settings_agents(const json_t *agents, const json_t *review);

/* "verdict, at most 6 reviews", or why there is none. */
char *settings_review(const json_t *review);

#endif
