/* SPDX-License-Identifier: MIT */
/* What an ended run leaves on the disk beside its rows: its directories in the state directory, and
 * its refs in the repository. All of this blocks: for a worker. */
#ifndef KEEP_LEAVINGS_H
#define KEEP_LEAVINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leavings {
	const char *state_dir;
	int64_t run;
	int64_t *ids;			/* its directories in attempts/ */
	size_t nids;
	/* its repository, NULL: none; the instance in the names of its refs, NULL: a run of an
	 * earlier version, whose refs stay, because another daemon may have such names */
	const char *workspace, *instance;
	/* results */
	int64_t bytes;
	char *fault;			/* why something is left, malloc'd; NULL: nothing is */
};

/* Sets bytes: the sizes on the disk of its directories. */
void leavings_measure(struct leavings *l);
/* Removes all of it. Can be repeated. */
void leavings_remove(struct leavings *l);

/* Size on the disk of a directory with its content; 0: there is none. */
int64_t disk_usage(const char *dir);

/* Size of all prepared rooms below a state directory. */
int64_t prepared_usage(const char *state_dir);
/* Removes those that nothing will use, or all that nothing uses now. Returns the bytes. */
int64_t prepared_free(const char *state_dir, bool all);

#endif
