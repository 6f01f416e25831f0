/* SPDX-License-Identifier: MIT */
/* A slot that has come to its end gives back what it took: its task to the source, closed or released. In a shared work tree it is looked
 * what HEAD has become; a work tree of its own is removed, of which
 * everything is kept that is nowhere else. What cannot be given back is told, and the rest is. */
#include "slot/teardown.h"

#include <stdlib.h>

#include "core/row.h"
#include "core/state.h"
#include "git/op.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "sched/claims.h"
#include "slot/git_request.h"
#include "slot/head.h"
#include "slot/machine.h"
#include "slot/operation.h"
#include "task/op.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* The source is told of a task that a slot of this run has had. Passed stories are written down, others as they were. */
static bool tells_source(const struct slot *slot)
{
	enum source_kind source = run_source(slot->run);

	if (slot->row->task == NULL || slot->row->slot == 0)
		return false;
	return source == SOURCE_BEADS || (source == SOURCE_STORIES && slot->row->stage == SLOT_S_PASSED);
}

static enum slot_leaving after(const struct slot *slot, enum slot_leaving leaving)
{
	if (leaving == LEAVING_NOTHING && tells_source(slot))
		return LEAVING_TASK;
	if (leaving < LEAVING_LOOK && head_is_open(slot))
		return LEAVING_LOOK;
	if (leaving != LEAVING_CLEAR && slot->row->worktree != NULL)
		return LEAVING_CLEAR;
	return LEAVING_NOTHING;
}

static void enter(struct txn *txn, struct slot *slot, enum slot_leaving leaving)
{
	txn_edit_slot(txn, slot)->leaving = (int)leaving;
	if (leaving != LEAVING_NOTHING)
		txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

/* What the claim becomes when the source has been told, or there is nobody to tell. */
static void release_claim(struct txn *txn, struct slot *slot)
{
	bool passed = slot->row->stage == SLOT_S_PASSED && slot_task(slot) != NULL && slot_task(slot)->state == TASK_S_PASSED;

	if (slot->row->task != NULL && slot->row->slot != 0)
		run_claim(txn, slot->run, slot->row->task, passed ? CLAIM_S_DONE : CLAIM_S_FREE);
}

void leave_begin(struct txn *txn, struct slot *slot)
{
	if (!tells_source(slot))
		release_claim(txn, slot);
	enter(txn, slot, after(slot, LEAVING_NOTHING));
}

void leave_act(struct slot *slot)
{
	switch ((enum slot_leaving)slot->row->leaving) {
	case LEAVING_TASK:
		source_begin(slot, slot_task(slot)->state == TASK_S_PASSED ? TASK_OP_CLOSE : TASK_OP_RELEASE);
		break;
	case LEAVING_LOOK:
		git_begin(slot, GIT_LOOK);
		break;
	case LEAVING_CLEAR:
		git_begin(slot, GIT_CLEAR);
		break;
	case LEAVING_NOTHING:
	case SLOT_LEAVINGS:
		break;
	}
}

void leave_next(struct txn *txn, struct slot *slot, const char *error)
{
	enum slot_leaving was = (enum slot_leaving)slot->row->leaving;

	if (error != NULL) {
		char *text = xasprintf("task %s: %s", slot_task_id(slot), error);

		run_warn(txn, slot->run, text);
		free(text);
	}
	if (was == LEAVING_TASK)
		release_claim(txn, slot);
	if (was == LEAVING_CLEAR && error == NULL) {
		const struct task_row *task = slot_task(slot);

		text_set(&txn_edit_slot(txn, slot)->worktree, NULL);
		if (task != NULL && task->disk_bytes != ROW_NONE)
			txn_edit_task(txn, task)->disk_bytes = 0;
	}
	enter(txn, slot, after(slot, was));
	if (slot->row->leaving != LEAVING_NOTHING)
		return;
	slot_release_permit(txn, slot);
	txn_touch(txn, slot->run);
}
