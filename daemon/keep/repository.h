/* SPDX-License-Identifier: MIT */
/* What prune asks and changes in the repository of a user. Blocking: for a worker. */
#ifndef KEEP_REPOSITORY_H
#define KEEP_REPOSITORY_H

#include <stddef.h>
#include <stdint.h>

#include "core/retention.h"

/* Results of a run. Texts are borrowed. */
struct run_results {
	const char *workspace;
	/* short names of those that rld made for it, NULL-terminated */
	const char *const *branches;
	const char *const *commits;	/* likewise */
};

/* Whether each of them is on a branch or tag that is not rld's, also of a remote. What no longer
 * exists is not asked for. *detail, malloc'd: UNMERGED: the first that is not; UNREADABLE: why;
 * else NULL. */
enum retention_merged repository_has(const struct run_results *results, char **detail);

/* What git prints there, malloc'd; "": nothing, or it failed. */
char *repository_lines(const char *workspace, const char *const *args);

/* Removes refs/rl/<instance>/KIND/<run> and those below. NULL, or why not, malloc'd. A repository
 * that is gone has none. */
char *repository_remove_refs(const char *workspace, const char *instance, int64_t run);

#endif
