/* SPDX-License-Identifier: MIT */
/* The shims of a state directory that are alive, also those of an earlier daemon. */
#ifndef PROC_SHIMS_H
#define PROC_SHIMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct shim_seen {
	pid_t pid;
	int64_t id;		/* attempt, step or hook */
};

/* A new list, to be freed; NULL: there is none. Blocks on /proc. */
struct shim_seen *shims_find(const char *state_dir, size_t *count);

#endif
