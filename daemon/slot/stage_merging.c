/* SPDX-License-Identifier: MIT */
/* MERGING: git merges the commits of the slot into the branch of the run. On a conflict, the work
 * tree is moved to that branch, with the work as changes and conflict markers; so it is, without
 * markers, when the merge gives a new tree, which is judged before the branch moves. */
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/review.h"
#include "core/row.h"
#include "git/git_op.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "slot/git_request.h"
#include "slot/merge_state.h"
#include "slot/obstacle.h"
#include "slot/review_rows.h"
#include "slot/round.h"
#include "slot/stages.h"
#include "slot/train_ride.h"
#include "txn/txn.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

/* The branch is checked out in another work tree, which no fixer can change. */
static void blocked(struct txn *txn, struct slot *slot, const char *where)
{
	char *safe = text_escape(where, strlen(where), false);
	char *why = xasprintf("%s is checked out in %s, so it was not updated: the checkout would "
	    "fall behind, and a commit there would undo the merge. Check out another branch there, "
	    "then approve", slot->run->rows->run.result_branch, safe);

	text_set(&txn_edit_slot(txn, slot)->obstacle, why);
	round_over(txn, slot, ROUND_CONFLICT, CAUSE(END_CONFLICT, why));
	free(why);
	free(safe);
}

/* A fixer resolves it, and the next merge uses the branch as it is then. */
static void conflicts(struct txn *txn, struct slot *slot, const char *paths)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	char *safe = text_escape(paths, strlen(paths), false);

	text_set(&row->base_commit, git_op_commit(slot->op.git));
	text_set(&row->base_tree, git_op_base(slot->op.git));
	text_set(&row->tree, git_op_tree(slot->op.git));
	if (slot_plan(slot)->checks_merged)
		row->merge = MERGE_SENT_BACK;
	obstacle_set(txn, slot, ROUND_CONFLICT,
	    xasprintf("this work conflicts with another task that was merged into the same branch "
	    "in the meantime: %s. The work tree is now at that branch, with this work as "
	    "uncommitted changes; where both changed the same lines there are conflict markers. "
	    "Resolve them so that both tasks work.", safe));
	free(safe);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct git_op *git = slot->op.git;

	if (obstacle_ref_moved(txn, slot))
		return;
	if (git_op_taken(git) != NULL)
		blocked(txn, slot, git_op_taken(git));
	else if (git_op_put_off(git))
		train_put_off(txn, slot);
	else if (git_op_conflicts(git) != NULL)
		conflicts(txn, slot, git_op_conflicts(git));
	else if (git_op_held_back(git))
		merge_held_back(txn, slot);
	else
		merge_done(txn, slot, done->step);
}

static void recover(struct slot *slot)
{
	git_begin(slot, GIT_MERGE);
}

const struct stage stage_merging = {
	.git = GIT_MERGE,
	.enter = enter,
	.result = result,
	.recover = recover,
};
