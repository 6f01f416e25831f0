/* SPDX-License-Identifier: MIT */
/* A slot is where at most one thing at a time is under way, its activity: one per slot, and one for the run itself (preparation). */
#ifndef MODEL_SLOTS_H
#define MODEL_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"
#include "core/slot.h"
#include "model/activity.h"
#include "model/briefing.h"
#include "proc/launch.h"

struct run;

struct slot {
	struct run *run;
	const struct slot_row *row;	/* working row, owned by run->rows; NULL: the run's own slot */
	struct activity activity;
	struct operation op;
	bool has_permit;			/* it has a permit */
	struct plan *plan;		/* of its task alone, owned; NULL: the run's */
	bool bd_claimed;		/* bd has given it its task, and waits for word of it; forgotten with the daemon */
	struct briefing briefing;		/* of the attempt that is being built, while it is read; see attempt_start.c */
	size_t briefing_next;		/* ... what comes next: 0: the task, n: story n - 1 */
	struct exit_record record;	/* of the attempt or step whose output is being read */
	bool lost;			/* it has none */
	char *lost_detail;
	enum proc_found found;		/* recovery: what the proc port found */
};

void slot_init(struct slot *slot, struct run *run, const struct slot_row *row);
void slot_release(struct slot *slot);
const struct task_row *slot_task(const struct slot *slot);	/* NULL: it has none */
const char *slot_task_id(const struct slot *slot);	/* "run" for one that has none */
const struct plan *slot_plan(const struct slot *slot);
/* It has another task: the settings of that, where it has some of its own. */
void slot_load_plan(struct slot *slot);
const char *slot_workspace(const struct slot *slot);
char *slot_workdir(const struct slot *slot);	/* malloc'd */
const char *slot_base_tree(const struct slot *slot);
/* Both are there and name the same object of git. */
bool object_is(const char *id, const char *other);
/* What is measured now is measured for a review. */
bool slot_begins_review(const struct slot *slot);
bool slot_has_checkout(const struct slot *slot);	/* its reviewer works in a checkout of its own */
bool slot_is_merged(const struct slot *slot);		/* it is over, and its commits are on the branch of the run */

#endif
