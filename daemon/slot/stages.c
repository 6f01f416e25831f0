/* SPDX-License-Identifier: MIT */
#include "slot/stages.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/cause.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "git/op.h"
#include "model/activity.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "sched/permits.h"
#include "slot/attempt.h"
#include "slot/git_request.h"
#include "slot/git_result.h"
#include "slot/hold.h"
#include "slot/machine.h"
#include "slot/operation.h"
#include "slot/review_rows.h"
#include "slot/reviewing.h"
#include "slot/teardown.h"
#include "task/op.h"
#include "txn/txn.h"

enum git_op_kind slot_stage_operation(const struct slot *slot)
{
	static const enum git_op_kind ops[SLOT_STAGES] = {
		[SLOT_S_CREATING_WORKTREE] = GIT_WORKTREE,
		[SLOT_S_MEASURING] = GIT_MEASURE,
		[SLOT_S_CHECKOUT] = GIT_CHECKOUT,
		[SLOT_S_VERIFYING] = GIT_VERIFY,
		[SLOT_S_PINNING] = GIT_PIN,
		[SLOT_S_COMMITTING] = GIT_COMMIT,
		[SLOT_S_MERGING] = GIT_MERGE,
	};
	const struct slot_row *row = slot->row;
	bool agent = row->attempt != ROW_NONE && run_attempt(slot->run, row->attempt)->role == ROLE_COMMIT;

	return row->stage == SLOT_S_COMMITTING && agent ? GIT_COMMITTED : ops[row->stage];
}

/* A new review begins: its checks are over, and its answer is the last one of however many fixers. */
static void next_round(struct txn *txn, const struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	free(row->previous_answer_hash);
	row->previous_answer_hash = row->answer_hash;
	row->answer_hash = xstrdup(run_attempt(slot->run, row->answer)->answer_hash);
	row->check = 0;
	row->failed_check = ROW_NONE;
	row->round++;
}

/* What the fix attempt that begins now is about. */
static void next_fix(struct txn *txn, const struct slot *slot, enum slot_stage from, enum move_reason reason)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	bool same = reason == MOVE_RETRY || from == SLOT_S_HELD;
	const struct finding_row *item;

	if (same)
		return;
	if (from != SLOT_S_FIXING) {
		row->fix++;
		row->item = 0;
		/* what a human asked for has been worked on: this is newer */
		text_set(&row->message, NULL);
	}
	if (slot_plan(slot)->fixer != FIXER_PER_FINDING || row->failed_check != ROW_NONE || row->obstacle != NULL)
		return;
	item = review_item(slot, row->item);
	row->item = item != NULL ? item->number : 0;
}

static void settle_task(struct txn *txn, const struct slot *slot, const struct move_why *why)
{
	static const enum task_state states[SLOT_STAGES] = {
		[SLOT_S_HELD] = TASK_S_CLAIMED,
		[SLOT_S_IMPLEMENTED] = TASK_S_IMPLEMENTED,
		[SLOT_S_PASSED] = TASK_S_PASSED,
		[SLOT_S_FAILED] = TASK_S_FAILED,
		[SLOT_S_CANCELLED] = TASK_S_CANCELLED,
	};
	bool released = why->reason == MOVE_RELEASED;
	struct task_row *task;

	if (slot_task(slot) == NULL)
		return;
	task = txn_edit_task(txn, slot_task(slot));
	task->state = released ? TASK_S_RELEASED : (int)states[slot->row->stage];
	task_set_cause(task, released ? CAUSE(END_STOP_MARKER, slot->row->reason) : slot_cause(slot->row));
}

/* The slot is cancelled: what waits is over at once, a process is told to end, and everything else ends by itself. */
static void end_activity(struct txn *txn, struct slot *slot)
{
	switch (slot->activity.kind) {
	case ACTIVITY_ATTEMPT:
	case ACTIVITY_OPERATION:
		txn_effect(txn, EFFECT_END, slot->run, slot, slot->activity.id);
		break;
	case ACTIVITY_PERMIT:
	case ACTIVITY_ACCOUNT:
		attempt_unstarted(txn, slot);
		break;
	case ACTIVITY_TURN:
	case ACTIVITY_RETRY:
		slot_ended(txn, slot);
		break;
	case ACTIVITY_COMMIT:
	case ACTIVITY_JOB:
	case ACTIVITY_NONE:
	case ACTIVITY_PICK:
	case ACTIVITIES:
		break;
	}
}

/* ---- enter ---- */

static void enter_nothing(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)txn, (void)slot, (void)from, (void)why;	/* slots are made in WAITING */
}

/* The attempt that the stage is about. */
static void enter_attempt(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	attempt_begin(txn, slot, slot_stage_role(slot_stage(slot)));
}

/* The operation that the stage is about begins when the decision is on disk. */
static void enter_operation(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

static void enter_creating_worktree(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	git_lay(txn, slot);
	enter_operation(txn, slot, from, why);
}

/* The first check, the next one, or the same again. */
static void enter_checking(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	bool same = why->reason == MOVE_RETRY;

	if (from == SLOT_S_CHECKING && !same)
		txn_edit_slot(txn, slot)->check++;
	else if (!same)
		txn_edit_slot(txn, slot)->check = 1;
	enter_attempt(txn, slot, from, why);
}

static void enter_measuring(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	if (slot_begins_review(slot))
		next_round(txn, slot);
	enter_operation(txn, slot, from, why);
}

/* Where there is no git, nothing was measured, and the round begins here. */
static void enter_reviewing(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	if (slot->run->rows->run.has_git != 1 && why->reason != MOVE_RETRY)
		next_round(txn, slot);
	enter_attempt(txn, slot, from, why);
}

static void enter_fixing(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	next_fix(txn, slot, from, why->reason);
	enter_attempt(txn, slot, from, why);
}

static void enter_held(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from;
	hold_open(txn, slot, why->hold, slot->row->cause);
	settle_task(txn, slot, why);
}

static void enter_ending(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	end_activity(txn, slot);
}

static void enter_implemented(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from;
	settle_task(txn, slot, why);
	/* once more, for now it says which decision was the final one */
	if (slot_plan(slot)->review_log != NULL)
		txn_effect(txn, EFFECT_LOG, slot->run, slot, ROW_NONE);
}

static void enter_end(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	enter_implemented(txn, slot, from, why);
	leave_begin(txn, slot);
}

static void enter_cancelled(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	hold_close(txn, slot, HOLD_S_CANCELLED, NULL, NULL);
	enter_end(txn, slot, from, why);
}

/* ---- recover: nothing is under way in the slot ---- */

static void recover_nothing(struct slot *slot)
{
	(void)slot;	/* it waits for a human or its run */
}

/* It may still have something to give back. */
static void recover_end(struct slot *slot)
{
	leave_act(slot);
}

static void recover_waiting(struct slot *slot)
{
	if (slot->run->plan.assign == ASSIGN_AGENT && slot->row->task == NULL && slot->row->slot > 1)
		activity_wait(&slot->activity, ACTIVITY_PICK);
	else
		queue_want(slot);
}

static void recover_attempt(struct slot *slot)
{
	log_bug("run %lld slot %lld: stage %s without an attempt", (long long)slot->row->run, (long long)slot->row->slot,
	    state_name(&slot_stage_names, slot->row->stage));
}

static void recover_claiming(struct slot *slot)
{
	source_begin(slot, TASK_OP_CLAIM);
}

static void recover_git(struct slot *slot)
{
	git_begin(slot, slot_stage_operation(slot));
}

static void recover_verifying(struct slot *slot)
{
	if (slot->run->rows->run.has_git == 1)
		recover_git(slot);
	else
		review_judge(slot, NULL, NULL);
}

static void recover_ending(struct slot *slot)
{
	struct txn *txn = txn_new(slot->run->engine);

	slot_ended(txn, slot);
	txn_commit(txn);
}

const struct stage slot_stages[SLOT_STAGES] = {
	[SLOT_S_WAITING] = { enter_nothing, recover_waiting },
	[SLOT_S_CLAIMING] = { enter_operation, recover_claiming },
	[SLOT_S_CREATING_WORKTREE] = { enter_creating_worktree, recover_git },
	[SLOT_S_IMPLEMENTING] = { enter_attempt, recover_attempt },
	[SLOT_S_CHECKING] = { enter_checking, recover_attempt },
	[SLOT_S_MEASURING] = { enter_measuring, recover_git },
	[SLOT_S_CHECKOUT] = { enter_operation, recover_git },
	[SLOT_S_REVIEWING] = { enter_reviewing, recover_attempt },
	[SLOT_S_VERIFYING] = { enter_operation, recover_verifying },
	[SLOT_S_FIXING] = { enter_fixing, recover_attempt },
	[SLOT_S_PINNING] = { enter_operation, recover_git },
	[SLOT_S_COMMIT_AGENT] = { enter_attempt, recover_attempt },
	[SLOT_S_COMMITTING] = { enter_operation, recover_git },
	[SLOT_S_MERGING] = { enter_operation, recover_git },
	[SLOT_S_IMPLEMENTED] = { enter_implemented, recover_nothing },
	[SLOT_S_ENDING] = { enter_ending, recover_ending },
	[SLOT_S_HELD] = { enter_held, recover_nothing },
	[SLOT_S_PASSED] = { enter_end, recover_end },
	[SLOT_S_FAILED] = { enter_end, recover_end },
	[SLOT_S_CANCELLED] = { enter_cancelled, recover_end },
};
