/* SPDX-License-Identifier: MIT */
/* A slot has at most one activity at a time. A run has slots 1..N, and a slot of its own for the
 * work between them. */
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
#include "proto/kinds.h"

struct run;

struct slot {
	struct run *run;
	const struct slot_row *row;	/* working row, owned by run->rows; NULL: the
					 * run's own slot */
	struct activity activity;
	struct operation op;
	bool has_permit;
	bool has_check_permit;		/* of the group of merge checks */
	bool departs;			/* its turn in the merge train: see slot/train_ride.h */
	struct plan *plan;		/* settings of its task, owned; NULL: the run's */
	bool bd_claimed;		/* bd expects close or release; lost with the daemon */
	struct briefing briefing;	/* of the attempt that is being built; see
					 * attempt_start.c */
	bool edits_known;		/* git has just compared its work tree: see slot/edits.h */
	size_t briefing_next;		/* next text to read: 0: the task, n: story n - 1 */
	/* evidence of other runs about the tree under review, newest first, owned; see
	 * evidence_read.c. Gone after a restart, which costs only time */
	struct evidence_row **known;
	size_t nknown;
	/* of its attempt, until what that is given is on disk; owned, NULL: none */
	struct launch *launch;
	struct exit_record record;	/* of the attempt or step whose output is being read */
	bool lost;			/* there is no record */
	char *lost_detail;
	enum proc_found found;		/* recovery: result of the proc port's inspection */
};

/* A new row, in WAITING. */
void slot_row_init(struct slot_row *row, const struct run *run, int64_t number, const char *task);
void slot_init(struct slot *slot, struct run *run, const struct slot_row *row);
void slot_release(struct slot *slot);
void slot_forget_known(struct slot *slot);
const struct task_row *slot_task(const struct slot *slot);	/* NULL: none */
/* In place of a task's id where several tasks are reviewed as a whole, and for the baseline. */
#define SLOT_WHOLE_RUN "run"
#define SLOT_BASE_ID "base"
const char *slot_task_id(const struct slot *slot);
const struct plan *slot_plan(const struct slot *slot);
/* Load the settings of the slot's task, if it has its own, or those of a voter. Call after the task
 * or the reviewer has changed. */
void slot_load_plan(struct slot *slot);
const char *slot_workspace(const struct slot *slot);
char *slot_workdir(const struct slot *slot);	/* malloc'd */
const char *slot_base_tree(const struct slot *slot);
/* Both ids exist and name the same git object. */
bool object_is(const char *id, const char *other);
/* An agent has worked on it, in this run or in the one that it continues. */
bool slot_has_work(const struct slot *slot);
/* The measurement under way begins a review. */
bool slot_begins_review(const struct slot *slot);
bool slot_has_checkout(const struct slot *slot);	/* the reviewer works in a room */
/* of the rooms that are prepared for others; NULL: not known yet */
const char *slot_prepared_tree(const struct slot *slot);
const char *slot_room_tree(const struct slot *slot);	/* of the room that it needs now */
bool slot_prepares_room(const struct slot *slot);	/* else its work tree */
bool slot_is_baseline(const struct slot *slot);
/* Of a panel: a reviewer judges the work of another slot there. */
bool slot_is_voter(const struct slot *slot);
bool slot_is_beside(const struct slot *slot);		/* one of the two */
/* It is about the work of slot 0, the whole run. */
bool slot_is_whole(const struct slot *slot);
/* The attempt is about its work. */
bool slot_has_attempt(const struct slot *slot, const struct attempt_row *a);
bool slot_reuses_room(const struct slot *slot);		/* not the baseline, which is for all */
bool slot_spares_permit(const struct slot *slot);	/* it works without one */
bool slot_checks_room(const struct slot *slot);		/* ... and checks before it */
/* Its implementer or fixer is not started yet: the slot may have an operation of slot/edits.h. */
bool slot_starts_writing(const struct slot *slot);
/* The current check has failed and runs once more; or it is one before that, which runs for it,
 * since it had not run in the room. */
bool slot_reruns_check(const struct slot *slot);
bool slot_replays_checks(const struct slot *slot);
/* Its merge gave a new tree, which is being judged. */
bool slot_judges_merge(const struct slot *slot);
/* ... by its checks, after which the merge continues; else by a reviewer, too. */
bool slot_checks_merge(const struct slot *slot);
/* The next merge of a new tree is held back until that was judged. Work that was accepted with a
 * failed check is not: the merge has it, too. */
bool slot_holds_merge_back(const struct slot *slot);
/* ended, with its commits on the branch of the run */
bool slot_is_merged(const struct slot *slot);

#endif
