/* SPDX-License-Identifier: MIT */
/* One process of an operation that is a list of them: what it is, and what comes after it. The rooms that have such
 * operations (git, task) name the steps; the engine has each run by rl-shim. */
#ifndef BASE_STEP_H
#define BASE_STEP_H

#include <stddef.h>
#include <stdint.h>

/* What the next process is. Owned by the operation, valid until the next call. */
struct step_spec {
	const char *name;	/* "ls-files" */
	const char *const *argv;
	const char *cwd;	/* directory to start in, NULL: the run's workspace */
	const char *const *env;	/* "K=V" added to the environment, NULL-terminated */
	const char *input;	/* stdin bytes, NULL: none */
	size_t input_size;
	int64_t output_bytes;	/* cap on stdout kept; 0: all */
};

enum step_next {
	STEP_NEXT_RUN,		/* *step is to be run, then call again */
	STEP_NEXT_DONE,		/* the operation's results are valid */
	STEP_NEXT_FAILED	/* its error says what, and the remedy */
};

#endif
