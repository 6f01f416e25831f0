/* SPDX-License-Identifier: MIT */
/* What a slot does when it enters a stage. */
#include <stdlib.h>

#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "git/op.h"
#include "model/activity.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/attempt.h"
#include "slot/git_result.h"
#include "slot/hold.h"
#include "slot/machine.h"
#include "slot/review_rows.h"
#include "slot/teardown.h"
#include "task/op.h"
#include "txn/txn.h"

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
	text_set(&task->reason, released ? slot->row->reason : slot->row->cause);
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

static void enter_waiting(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)txn, (void)slot, (void)from, (void)why;	/* a slot is made in it */
}

static void enter_claiming(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_SOURCE, slot->run, slot, TASK_OP_CLAIM);
}

static void enter_creating_worktree(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	git_lay(txn, slot);
	txn_effect(txn, EFFECT_GIT, slot->run, slot, GIT_WORKTREE);
}

static void enter_implementing(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	attempt_begin(txn, slot, ROLE_IMPLEMENT);
}

/* The first check, the next one, or the same again. */
static void enter_checking(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	bool same = why->reason == MOVE_RETRY;

	if (from == SLOT_S_CHECKING && !same)
		txn_edit_slot(txn, slot)->check++;
	else if (!same)
		txn_edit_slot(txn, slot)->check = 1;
	attempt_begin(txn, slot, ROLE_CHECK);
}

static void enter_measuring(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	if (slot_begins_review(slot))
		next_round(txn, slot);
	txn_effect(txn, EFFECT_GIT, slot->run, slot, GIT_MEASURE);
}

static void enter_checkout(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_GIT, slot->run, slot, GIT_CHECKOUT);
}

/* Where there is no git, nothing was measured, and the round begins here. */
static void enter_reviewing(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from;
	if (slot->run->rows->run.has_git != 1 && why->reason != MOVE_RETRY)
		next_round(txn, slot);
	attempt_begin(txn, slot, ROLE_REVIEW);
}

static void enter_verifying(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	if (slot->run->rows->run.has_git == 1)
		txn_effect(txn, EFFECT_GIT, slot->run, slot, GIT_VERIFY);
	else
		txn_effect(txn, EFFECT_JUDGE, slot->run, slot, ROW_NONE);
}

static void enter_fixing(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	next_fix(txn, slot, from, why->reason);
	attempt_begin(txn, slot, ROLE_FIX);
}

static void enter_pinning(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_GIT, slot->run, slot, GIT_PIN);
}

static void enter_commit_agent(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	attempt_begin(txn, slot, ROLE_COMMIT);
}

static void enter_committing(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)why;
	txn_effect(txn, EFFECT_GIT, slot->run, slot, from == SLOT_S_COMMIT_AGENT ? GIT_COMMITTED : GIT_COMMIT);
}

static void enter_merging(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_GIT, slot->run, slot, GIT_MERGE);
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

const struct stage slot_stages[SLOT_STAGES] = {
	[SLOT_S_WAITING] = { enter_waiting },
	[SLOT_S_CLAIMING] = { enter_claiming },
	[SLOT_S_CREATING_WORKTREE] = { enter_creating_worktree },
	[SLOT_S_IMPLEMENTING] = { enter_implementing },
	[SLOT_S_CHECKING] = { enter_checking },
	[SLOT_S_MEASURING] = { enter_measuring },
	[SLOT_S_CHECKOUT] = { enter_checkout },
	[SLOT_S_REVIEWING] = { enter_reviewing },
	[SLOT_S_VERIFYING] = { enter_verifying },
	[SLOT_S_FIXING] = { enter_fixing },
	[SLOT_S_PINNING] = { enter_pinning },
	[SLOT_S_COMMIT_AGENT] = { enter_commit_agent },
	[SLOT_S_COMMITTING] = { enter_committing },
	[SLOT_S_MERGING] = { enter_merging },
	[SLOT_S_IMPLEMENTED] = { enter_implemented },
	[SLOT_S_ENDING] = { enter_ending },
	[SLOT_S_HELD] = { enter_held },
	[SLOT_S_PASSED] = { enter_end },
	[SLOT_S_FAILED] = { enter_end },
	[SLOT_S_CANCELLED] = { enter_cancelled },
};
