/* SPDX-License-Identifier: MIT */
#include "slot/machine.h"

#include "base/log.h"
#include "core/cause.h"
#include "core/next_stage.h"
#include "core/row.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "sched/check_permits.h"
#include "sched/permits.h"
#include "slot/activity_check.h"
#include "slot/train_order.h"
#include "slot/turn.h"
#include "slot/wait.h"
#include "task/task_op.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* Of slots that end with the run: by a user, or since a check cannot be started on its base. */
static struct cause cause_of_cancel(const struct run *run)
{
	return run_base_failed(run) && !run_cancelling(run) ? slot_cause(run_baseline(run)) :
	    CAUSE(END_CANCELLED, "cancelled");
}

void slot_ended(struct txn *txn, struct slot *slot)
{
	activity_end(&slot->activity);
	turn_over(txn, slot);
	operation_free(&slot->op);
	if (slot->row != NULL)
		slot_move(txn, slot, SLOT_S_ENDING, SLOT_S_CANCELLED,
		    &(struct move_why){ .cause = cause_of_cancel(slot->run) });
	else
		/* its slots may still be in teardown */
		txn_touch(txn, slot->run);
}

/* A cause belongs to ended and held slots, and to accepted work that only needs its commit. When a
 * commit agent is lost, the acceptance is kept until a human sends the slot back. */
static void set_cause(struct slot_row *row, enum slot_stage from, const struct move_why *why)
{
	static const enum end_kind kinds[ACCEPTEDS] = {
		[ACCEPTED_BY_POLICY] = END_WAIVED,
		[ACCEPTED_BY_HUMAN] = END_APPROVED,
		[ACCEPTED_WITH_ISSUES] = END_KNOWN_ISSUES,
	};
	bool settled = slot_stage_is_end((enum slot_stage)row->stage) || row->stage == SLOT_S_HELD;
	bool committed = from == SLOT_S_COMMITTING || from == SLOT_S_MERGING;
	bool accepted = row->accepted != ACCEPTED_BY_NONE;

	if (accepted && from == SLOT_S_COMMIT_AGENT && row->stage == SLOT_S_HELD) {
		slot_set_reason(row, REASON(WAIT_DECISION, row->cause));
		slot_set_cause(row, why->cause);
	} else if (accepted && from == SLOT_S_HELD && row->stage == SLOT_S_COMMIT_AGENT) {
		slot_set_cause(row, CAUSE(kinds[row->accepted], row->reason));
		slot_set_reason(row, NO_REASON);
	} else if (settled || why->reason == MOVE_ACCEPTED) {
		if (why->cause.kind != END_NONE || !committed)
			slot_set_cause(row, why->cause);
		row->accepted = (int)end_accepted((enum end_kind)row->end_kind);
	} else if (from == SLOT_S_HELD) {
		slot_set_cause(row, NO_CAUSE);
		row->accepted = ACCEPTED_BY_NONE;
	}
}

void slot_on_permit(struct txn *txn, struct slot *slot)
{
	bool cooled = slot_cools(slot->row);

	slot_set_reason(txn_edit_slot(txn, slot), NO_REASON);
	if (cooled && !slot_cools(slot->row))
		slot_emit_phase(txn, slot);
	activity_end(&slot->activity);
	if (slot->row->stage == SLOT_S_WAITING)
		slot_result(txn, slot, &(struct stage_result){ .step = ROW_NONE });
	else
		txn_effect(txn, EFFECT_BUILD, slot->run, slot, slot->row->attempt);
}

/* The slot is idle: its permit goes to another one, or stays with the run if no other slot of the
 * run has or wants one, and none waits for the baseline. */
void slot_release_permit(struct txn *txn, struct slot *slot)
{
	struct run *run = slot->run;
	bool last = slot->has_permit && !run->own.has_permit;

	for (size_t i = 0; i < run->nslots; i++)
		last &= run->slots[i] == slot ? slot->activity.kind != ACTIVITY_BASELINE :
		    (!run->slots[i]->has_permit && run->slots[i]->activity.kind != ACTIVITY_BASELINE &&
		    run->slots[i]->activity.kind != ACTIVITY_PERMIT &&
		    run->slots[i]->activity.kind != ACTIVITY_ACCOUNT &&
		    run->slots[i]->row->stage != SLOT_S_WAITING);
	if (last && run->rows->run.state == RUN_S_RUNNING) {
		slot->has_permit = false;
		run->own.has_permit = true;
	} else if (slot->has_permit) {
		queue_give(slot);
		txn_effect_schedule(txn);
	}
}

/* The waits of an attempt before its start belong to it; a reviewer's outlast the making of its
 * room. Its set-up waits for it. */
static void clear_waits(struct slot_row *row)
{
	if (row->stage == SLOT_S_CHECKOUT || row->stage == SLOT_S_PREPARING || slot_cools(row))
		return;
	text_set(&row->cooling, NULL);
	row->retry_at = ROW_NONE;
}

enum slot_stage slot_stage(const struct slot *slot)
{
	return (enum slot_stage)slot->row->stage;
}

static const struct stage *stage_of(const struct slot *slot)
{
	return slot->run->engine->stages[slot_stage(slot)];
}

void slot_fail(struct txn *txn, struct slot *slot, struct cause cause)
{
	slot_move(txn, slot, slot_stage(slot), SLOT_S_FAILED, &(struct move_why){ .cause = cause });
}

void slot_cancel(struct txn *txn, struct slot *slot)
{
	enum slot_stage stage = slot_stage(slot);

	slot_move(txn, slot, stage, stage_after_cancel(stage),
	    &(struct move_why){ .cause = cause_of_cancel(slot->run) });
}

/* Whether the slot waits for a decision or its run, or has ended. */
static bool is_settled(const struct slot_row *row)
{
	bool over = slot_stage_is_end((enum slot_stage)row->stage) && row->leaving == LEAVING_NOTHING;

	return over || row->stage == SLOT_S_HELD || row->stage == SLOT_S_IMPLEMENTED;
}

void slot_move(struct txn *txn, struct slot *slot, enum slot_stage from, enum slot_stage to, const struct move_why *why)
{
	static const struct move_why done;
	struct slot_row *row = txn_edit_slot(txn, slot);
	enum slot_phase phase = slot_row_phase(row);
	enum slot_stage entered;

	why = why != NULL ? why : &done;
	slot->edits_known &= from == SLOT_S_VERIFYING;
	slot_wait_over(txn, slot);
	if (!slot_row_move(row, from, to)) {
		log_bug("run %lld slot %lld: stage %s must not follow %s, its stage is %s",
		    (long long)row->run, (long long)row->slot,
		    state_name(&slot_stage_names, (int)to), state_name(&slot_stage_names, (int)from),
		    state_name(&slot_stage_names, row->stage));
		return;
	}
	log_about(LOG_LEVEL_DEBUG, row->run, 0, "run %lld slot %lld: %s, %s: %s", (long long)row->run,
	    (long long)row->slot, state_name(&slot_stage_names, (int)from), move_reason_name(why->reason),
	    state_name(&slot_stage_names, row->stage));
	entered = slot_stage(slot);
	if (from == SLOT_S_WAITING)
		activity_end(&slot->activity);
	clear_waits(row);
	set_cause(row, from, why);
	stage_of(slot)->enter(txn, slot, from, why);
	/* "cancelled" is reported at the end, not at the beginning */
	if (entered != SLOT_S_ENDING && (slot_row_phase(row) != phase || slot_stage_is_end(entered)))
		slot_emit_phase(txn, slot);
	if (from == SLOT_S_MERGING || row->merge != MERGE_NOT) {
		train_pass(txn, slot->run);
		turn_pass(txn, slot);
	}
	if (!slot_checks_merge(slot) || entered != SLOT_S_CHECKING)
		check_permit_give(txn, slot);
	/* git merges, and the checks of the group follow */
	if (entered == SLOT_S_MERGING)
		slot_release_permit(txn, slot);
	activity_check(slot);
	/* others may start with what it has made, while it leaves; in its place, while its merge is
	 * judged; and in a shared tree, where nothing starts beside a held slot */
	if ((slot_stage_is_end(entered) || slot_row_is_merging(row) || from == SLOT_S_HELD) &&
	    slot->run->plan.rolls)
		txn_touch(txn, slot->run);
	/* what ended immediately has settled already */
	if (slot_stage(slot) != entered || !is_settled(row))
		return;
	slot_release_permit(txn, slot);
	txn_touch(txn, slot->run);
}

void slot_result(struct txn *txn, struct slot *slot, const struct stage_result *result)
{
	const struct stage *stage = stage_of(slot);

	/* an ended slot is only in teardown, and cannot fail any more */
	if (result->failure.kind != END_NONE && !slot_stage_is_end(slot_stage(slot)))
		slot_fail(txn, slot, result->failure);
	else if (stage->result != NULL)
		stage->result(txn, slot, result);
	else
		log_bug("run %lld slot %lld: stage %s has a result", (long long)slot->row->run,
		    (long long)slot->row->slot, state_name(&slot_stage_names, slot->row->stage));
}

void slot_recover(struct slot *slot)
{
	const struct stage *stage = stage_of(slot);

	if (stage->recover != NULL)
		stage->recover(slot);
}
