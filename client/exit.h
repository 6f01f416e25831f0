/* SPDX-License-Identifier: MIT */
/* The exit codes of rlctl, and the class of a run among them. */
#ifndef CLIENT_EXIT_H
#define CLIENT_EXIT_H

#include <jansson.h>
#include <stdbool.h>

enum exit_code {
	EXIT_DONE = 0,
	EXIT_REFUSED = 1,
	EXIT_USAGE = 2,
	EXIT_NO_DAEMON = 3,
	EXIT_RUN_FAILED = 10,
	EXIT_RUN_CANCELLED = 11,
	EXIT_RUN_LOST = 12,
	EXIT_RUN_HELD = 13,
	EXIT_RUN_LIMIT = 14,
	EXIT_TIMED_OUT = 124,
	EXIT_DETACHED = 130		/* as a shell says of a program that Ctrl-C ended */
};

/* True when a run in this state needs no more waiting: it has ended, or a human must act. */
bool exit_is_final(const char *state);

/* The class of a run object {state, cause}; EXIT_TIMED_OUT while it is not final. */
enum exit_code exit_of_run(const json_t *run);

/* The one of two that tells more of what went wrong. */
enum exit_code exit_worse(enum exit_code a, enum exit_code b);

#endif
