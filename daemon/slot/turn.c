/* SPDX-License-Identifier: MIT */
#include "slot/turn.h"

#include <string.h>
#include <sys/queue.h>

#include "core/row.h"
#include "core/slot.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "slot/train_order.h"
#include "txn/txn.h"

bool turn_is_needed(enum git_op_kind kind)
{
	return kind == GIT_MERGE || kind == GIT_WORKTREE_ADD || kind == GIT_WORKTREE_REMOVE ||
	    kind == GIT_WORKTREE_DELETE;
}

/* Merges of a run run one at a time, because each builds on the previous one. So do additions and
 * removals of work trees in a repository: git fails on administrative files that another git is
 * writing. Of deletions one runs at a time: a disk is no faster for two, and others use it, too. */
static bool excludes(const struct slot *a, const struct slot *b)
{
	bool tree_a = a->op.git_kind == GIT_WORKTREE_ADD || a->op.git_kind == GIT_WORKTREE_REMOVE,
	    tree_b = b->op.git_kind == GIT_WORKTREE_ADD || b->op.git_kind == GIT_WORKTREE_REMOVE;

	if (a->op.git_kind == GIT_WORKTREE_DELETE)
		return b->op.git_kind == GIT_WORKTREE_DELETE;
	if (a->op.git_kind == GIT_MERGE)
		return b->op.git_kind == GIT_MERGE && a->run == b->run;
	return tree_a && tree_b && strcmp(a->run->rows->run.workspace, b->run->rows->run.workspace) == 0;
}

/* What is merged meanwhile makes the judgement useless. A held slot may wait for weeks: it holds
 * back no other. */
static bool holds_branch(const struct slot *slot)
{
	return slot_judges_merge(slot) && slot->row->stage != SLOT_S_HELD &&
	    !slot_stage_is_end((enum slot_stage)slot->row->stage);
}

static bool is_behind(const struct slot *slot)
{
	if (slot->op.git_kind != GIT_MERGE || slot_judges_merge(slot) || slot->row->merge == MERGE_TOGETHER)
		return false;
	for (size_t i = 0; i < slot->run->nslots; i++)
		if (slot->run->slots[i] != slot && holds_branch(slot->run->slots[i]) &&
		    (!train_has(slot->run->slots[i]) || !train_admits(slot)))
			return true;
	return false;
}

bool turn_is_taken(const struct slot *slot)
{
	struct run *run;

	if (is_behind(slot))
		return true;
	LIST_FOREACH(run, &slot->run->engine->begun, begun)
		for (size_t i = 0; i < run->nslots; i++)
			if (run->slots[i] != slot && run->slots[i]->op.has_turn && excludes(slot, run->slots[i]))
				return true;
	return false;
}

void turn_over(struct txn *txn, struct slot *slot)
{
	if (!slot->op.has_turn)
		return;
	slot->op.has_turn = false;
	turn_pass(txn, slot);
}

void turn_pass(struct txn *txn, const struct slot *slot)
{
	struct run *run;

	LIST_FOREACH(run, &slot->run->engine->begun, begun)
		for (size_t i = 0; i < run->nslots; i++)
			if (run->slots[i]->activity.kind == ACTIVITY_TURN && !turn_is_taken(run->slots[i]))
				txn_effect(txn, EFFECT_STAGE, run, run->slots[i], ROW_NONE);
}
