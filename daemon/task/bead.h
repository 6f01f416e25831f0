/* SPDX-License-Identifier: MIT */
/* Common parts of jsonl lines and answers of bd: an issue in JSON, and what blocks it. Pure. */
#ifndef TASK_BEAD_H
#define TASK_BEAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "task/task.h"

/* Output of `bd ... --json` as a list of issues: an array of issues, one object, or either in an
 * envelope {"schema_version", "data"}. NULL with *error, a sentence for the user, malloc'd: that of
 * an object with "error". */
json_t *bd_answer(const char *text, size_t size, char **error);

/* The answer of `bd ready` as a list: each is ready. 0, or -1 with *error, as for the readers in
 * task.h. */
int bd_list(const json_t *answer, struct task_list *list, char **error);

/* Add to list, which has those of `bd ready`, the issues of `bd blocked` that wait only for others.
 * Unreadable ones are skipped. */
void bd_list_blocked(const json_t *answer, struct task_list *list);

enum edge_kind {
	EDGE_WAITS,	/* until the other bead is closed */
	EDGE_PARENT	/* what blocks the parent blocks its children */
};

struct edge {
	char *on;		/* id */
	enum edge_kind kind;
};

struct bead {
	struct task_item item;
	struct edge *edges;
	size_t nedges;
	bool idle;		/* can be worked on, as far as its own fields tell */
	bool settled;		/* blocks nothing */
};

/* object: an issue. now: milliseconds since the epoch, for defer_until. Returns false with *words,
 * malloc'd; release the bead in any case. */
bool bead_read(struct bead *bead, const json_t *object, int64_t now, char **words);
void bead_release(struct bead *bead);

/* Fill in item.ready and item.held_by of the beads, which are in order of their ids. */
void beads_work_out(struct bead *beads, size_t count);

#endif
