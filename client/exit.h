/* SPDX-License-Identifier: MIT */
/* Exit codes of rlctl, and the one for a run. */
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
	EXIT_DETACHED = 130		/* what a shell reports for a program ended by Ctrl-C */
};

/* Whether there is no need to wait for a run in this state: it has ended, or needs a decision. */
bool exit_is_final(const char *state);

/* Whether a run in this state has ended. */
bool exit_has_ended(const char *state);

/* The exit code for a run object {state, cause}; EXIT_TIMED_OUT while it is not final. */
enum exit_code exit_of_run(const json_t *run);

/* The more serious of two exit codes. */
enum exit_code exit_worse(enum exit_code a, enum exit_code b);

#endif
