/* SPDX-License-Identifier: MIT */
/* Checks made by the client: the programs that its user's runs would start, in their
 * environment. */
#ifndef CLIENT_PROGRAM_CHECK_H
#define CLIENT_PROGRAM_CHECK_H

#include <jansson.h>
#include <stdint.h>

/* Append a check {name, state, text, remedy}; state is "ok", "warning" or "failed", remedy may be
 * NULL. Takes ownership of text. */
void program_check_add(json_t *checks, const char *name, const char *state, char *text, const char *remedy);

/* The agents of daemon.doctor: [{name, program, path, version, measured, installed,
 * logged_in, checks}], new. ms: time limit for each --version. */
json_t *program_check_agents(const json_t *agents, int64_t ms);

/* Check git and bd on our PATH. */
void program_check_tools(json_t *checks, int64_t ms);

#endif
