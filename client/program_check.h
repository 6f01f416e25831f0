/* SPDX-License-Identifier: MIT */
/* The checks that a client makes: of the programs that its user's runs would start, in the
 * environment that they would have. */
#ifndef CLIENT_PROGRAM_CHECK_H
#define CLIENT_PROGRAM_CHECK_H

#include <jansson.h>
#include <stdint.h>

/* A check {name, state, text, remedy} behind the others; state is "ok", "warning" or "failed",
 * remedy may be NULL. text is taken over. */
void program_check_add(json_t *checks, const char *name, const char *state, char *text, const char *remedy);

/* The agents of daemon.doctor: [{name, program, path, version, measured, installed, checks}], new.
 * ms: for each program to tell its version. */
json_t *program_check_agents(const json_t *agents, int64_t ms);

/* git and bd on our PATH, behind the other checks. */
void program_check_tools(json_t *checks, int64_t ms);

#endif
