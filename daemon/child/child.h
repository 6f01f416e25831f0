/* SPDX-License-Identifier: MIT */
/* Runs a program to its end and captures its output: how rl-git runs git and bd, one after the
 * other. Blocking.
 *
 * After the program has exited, processes that it left running are ended like rl-shim does: the
 * pipes are read until they are closed or quiet, then the remaining processes get SIGTERM and
 * SIGKILL. The caller must be a subreaper, otherwise orphans are not seen. */
#ifndef CHILD_CHILD_H
#define CHILD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/memory.h"

struct child {
	const char *name;	/* for child_before; NULL */
	char **argv;		/* argv[0] is looked up on PATH of this process */
	char **env;		/* complete environment */
	const char *cwd;	/* NULL: the current directory */
	/* it keeps the group of rld, which rl-git has where agents have another user */
	bool keeps_group;
	const void *input;	/* its stdin; NULL: none */
	size_t input_size;
	int output;		/* descriptor for its stdout; -1: captured */
	/* limits of a captured stream: bytes kept of its beginning, and of its end; 0: all */
	size_t keep;
	/* Reads its stdout from fd while it runs, until it has what it needs, instead of capturing;
	 * NULL: capture. */
	void (*reader)(void *arg, int fd);
	void *arg;
};

struct child_end {
	int error;		/* errno: it did not start; 0: it did */
	const char *what;	/* the failed step, static: "exec" */
	int status;		/* as from waitpid() */
	struct buf out, err;	/* captured; data NULL: nothing */
	bool cut;		/* a part between beginning and end of one of them is missing */
};

/* Where agents have another user: our group is that of rld. Have the group of the agents, in
 * decimal, as the saved one, for the programs. 0 or -errno. */
int child_set_groups(const char *agents);
/* Whether they have: after child_set_groups(). */
bool child_has_agents(void);
/* Until child_open_as(), this process itself opens, makes and removes files with the group of the
 * agents: for a place where they may put a link meanwhile. Returns the group before, for
 * child_open_as(). Where they have no other user it is the same one. */
gid_t child_open_as_agents(void);
void child_open_as(gid_t group);

/* end is overwritten; child_end_release() frees its content. */
void child_run(const struct child *child, struct child_end *end);
void child_end_release(struct child_end *end);

/* The environment of this process plus the "K=V" entries of more; the caller frees. */
char **child_environment(const char *const *more);

/* Called before each start, and after each end, if set: hooks for tests. */
extern void (*child_before)(struct child *child);
extern void (*child_after)(void);

#endif
