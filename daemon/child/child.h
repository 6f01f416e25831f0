/* SPDX-License-Identifier: MIT */
/* Run a program to its end and have what it printed: how rl-git starts git and bd, one after the
 * other. Blocking.
 *
 * When the program has exited, what it left running is ended as rl-shim does it: the pipes are read
 * until they are closed or quiet, then the remaining processes get SIGTERM and SIGKILL. The caller
 * is a subreaper, or orphans are not seen. */
#ifndef CHILD_CHILD_H
#define CHILD_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/memory.h"

struct child {
	const char *name;	/* for child_before; NULL */
	char **argv;		/* argv[0] is looked up on PATH of this process */
	char **env;		/* the whole environment */
	const char *cwd;	/* NULL: where this process is */
	const void *input;	/* its stdin; NULL: none */
	size_t input_size;
	int output;		/* descriptor that becomes its stdout; -1: captured */
	size_t keep;		/* of a captured stream: so many bytes of its head, and of
				 * its tail; 0: all */
	/* Reads its stdout from fd while it runs, until it has what it wants, in place of the
	 * capture; NULL: it is captured. */
	void (*reader)(void *arg, int fd);
	void *arg;
};

struct child_end {
	int error;		/* errno: it was not started; 0: it was */
	const char *what;	/* what failed then, static: "exec" */
	int status;		/* as waitpid() has it */
	struct buf out, err;	/* captured; data NULL: nothing */
	bool cut;		/* something between head and tail of one of them is missing */
};

/* end is overwritten; child_end_release() frees what it holds. */
void child_run(const struct child *child, struct child_end *end);
void child_end_release(struct child_end *end);

/* The environment of this process with the entries "K=V" of more in it; the caller frees. */
char **child_environment(const char *const *more);

/* Called before each start, and when the program has ended, when they are set: tests put themselves
 * between. */
extern void (*child_before)(struct child *child);
extern void (*child_after)(void);

#endif
