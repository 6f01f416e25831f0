/* SPDX-License-Identifier: MIT */
/* What jsonl lines and answers of bd have in common: one issue as JSON, and what holds it back.
 * Pure. */
#ifndef TASK_BEAD_H
#define TASK_BEAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "task/task.h"

/* What `bd ... --json` prints, as a list of issues: an array of issues, one object, or either in an
 * envelope {"schema_version", "data"}. NULL with *error, a sentence for the user, malloc'd: that of
 * an object with "error". */
json_t *bd_answer(const char *text, size_t size, char **error);

/* The answer of `bd ready` as a list: each is ready. 0, or -1 with *error, as the readers in
 * task.h. */
int bd_list(const json_t *answer, struct task_list *list, char **error);

/* Into list, which has those of `bd ready`: those of `bd blocked` that could be worked on if it
 * were not for others. What cannot be read is passed over. */
void bd_list_blocked(const json_t *answer, struct task_list *list);

enum edge_kind {
	EDGE_WAITS,	/* until the other bead is closed */
	EDGE_PARENT	/* what holds the parent back holds its children back */
};

struct edge {
	char *on;		/* id */
	enum edge_kind kind;
};

struct bead {
	struct task_item item;
	struct edge *edges;
	size_t nedges;
	bool idle;		/* may be worked on, as far as its own fields say */
	bool settled;		/* holds nothing back */
};

/* object: an issue. now: milliseconds since the epoch, for defer_until. False with *words,
 * malloc'd; release it either way. */
bool bead_read(struct bead *bead, const json_t *object, int64_t now, char **words);
void bead_release(struct bead *bead);

/* item.ready and item.held_by of each bead, which are in order of their ids. */
void beads_work_out(struct bead *beads, size_t count);

#endif
