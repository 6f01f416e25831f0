/* SPDX-License-Identifier: MIT */
/* What prune asks and changes in the repository of a user. Blocking: for a worker. */
#ifndef KEEP_REPOSITORY_H
#define KEEP_REPOSITORY_H

#include <stddef.h>
#include <stdint.h>

#include "core/retention.h"

/* Results of a run. Texts are borrowed. */
struct run_results {
	int64_t run;
	const char *workspace, *instance;	/* instance: NULL: of a run of an earlier version */
	/* short names of those that rld made for it, NULL-terminated */
	const char *const *branches;
	const char *const *commits;	/* likewise */
	const char *const *saved;	/* commits: what was saved of failed work */
};

/* Whether each of them is on a branch or tag that is not rld's, also of a remote. What no longer
 * exists cannot be lost; but only where refs say that this still is the repository of the run.
 * *detail, malloc'd: UNMERGED, SAVED: the first that is not; UNREADABLE: why; else NULL. */
enum retention_merged repository_has(const struct run_results *results, char **detail);

/* What git prints there, malloc'd; "": nothing, or it failed. */
char *repository_lines(const char *workspace, const char *const *args);

/* Removes refs/rl/<instance>/KIND/<run> and those below. NULL, or why not, malloc'd. A repository
 * that is gone has none. */
char *repository_remove_refs(const char *workspace, const char *instance, int64_t run);

#endif
