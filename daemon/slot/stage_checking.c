/* SPDX-License-Identifier: MIT */
/* CHECKING: the checks of the plan run one after the other, each as an attempt, where the reviewer
 * will work. The first that fails twice goes to a fixer with its output. */
#include <stdlib.h>

#include "core/cause.h"
#include "core/review.h"
#include "core/row.h"
#include "core/state.h"
#include "evidence/check_evidence.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/attempt.h"
#include "slot/attempt_result.h"
#include "slot/base_check.h"
#include "slot/baseline.h"
#include "slot/machine.h"
#include "slot/measured.h"
#include "slot/round.h"
#include "slot/stages.h"
#include "slot/train_ride.h"
#include "slot/train_order.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* The first check, the next one, or the same again. */
static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	bool same = why->reason == MOVE_RETRY || why->reason == MOVE_RERUN;
	struct slot_row *row = txn_edit_slot(txn, slot);

	if (why->reason == MOVE_RERUN) {
		row->red_check = row->attempt;
		/* perhaps it needs what those before it would have made here */
		row->check = row->gap == 1 ? 1 : row->check;
		row->gap = 0;
	}
	if (!same) {
		bool replays = from == SLOT_S_CHECKING && slot_replays_checks(slot);

		/* in a room some need not run: MEASURING has set where to begin */
		if (from != SLOT_S_CHECKING && !slot_checks_room(slot))
			row->check = 0;
		row->check++;
		row->red_check = replays ? row->red_check : ROW_NONE;
	}
	attempt_begin(txn, slot, ROLE_CHECK);
}

/* What it has failed with: no check has run since that had not run in the room. */
static bool had_the_same(const struct slot *slot, const struct attempt_row *a)
{
	const struct run_rows *rows = slot->run->rows;

	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *other = rows->attempts[i];

		if (other->iteration == a->iteration && other->slot == a->slot && other->id > slot->row->red_check &&
		    other->id < a->id && !text_equal(other->agent, a->agent))
			return false;
	}
	return true;
}

static enum evidence_result result_of(const struct slot *slot, const struct attempt_end *end)
{
	if (attempt_succeeded(end->facts))
		return slot_reruns_check(slot) && had_the_same(slot, end->row) ? EVIDENCE_FLAKY : EVIDENCE_GREEN;
	/* the run was out of time, which says nothing of the tree */
	if (end->facts->process == PROCESS_NOT_STARTED || end->row->end_kind == END_LIMIT)
		return EVIDENCE_VOID;
	return EVIDENCE_RED;
}

static void warn_flaky(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	const struct attempt_row *red = run_attempt(slot->run, slot->row->red_check);
	char *whose = slot_is_baseline(slot) ? xstrdup("") : xasprintf(" of task %s", slot_task_id(slot));
	char *text = xasprintf("flaky: check `%s`%s failed in attempt %lld and passed on the same %s in attempt %lld",
	    a->agent, whose, (long long)red->number, slot->row->base == BASE_CHECKING ? "base" : "work",
	    (long long)a->number);

	run_warn(txn, slot->run, text);
	free(text);
	free(whose);
}

/* Whether a check of the base is over, and the next one does not follow by itself. */
static bool ends_base(const struct slot *slot, const struct attempt_end *end)
{
	return slot->row->base == BASE_CHECKING && !end->lost && end->to != SLOT_S_CHECKING && end->to != SLOT_S_FAILED;
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct attempt_end *end = done->attempt;
	enum evidence_result said = result_of(slot, end);

	if (slot_is_baseline(slot) && end->to == SLOT_S_HELD) {
		slot_fail(txn, slot, attempt_row_cause(end->row));
		return;
	}
	if (slot->row->base == BASE_COMPARING && !end->lost && end->to != SLOT_S_FAILED) {
		if (slot_is_baseline(slot))
			baseline_compared(txn, slot, end->row, attempt_succeeded(end->facts));
		else if (!base_compared(txn, slot, end->row, attempt_succeeded(end->facts)))
			round_check_failed(txn, slot, run_attempt(slot->run, slot->row->failed_check));
		return;
	}
	/* in the directory of the user it tells nothing about a product */
	if (!end->lost && slot->row->base != BASE_COMPARING)
		evidence_check(txn, slot, end->row, said);
	if (!end->lost && said == EVIDENCE_FLAKY)
		warn_flaky(txn, slot, end->row);
	if (attempt_succeeded(end->facts)) {
		checks_reuse(txn, slot, slot->row->check, end->facts->check);
		txn_edit_slot(txn, slot)->check = end->facts->check;
	}
	if (ends_base(slot, end)) {
		if (slot_is_baseline(slot))
			baseline_checked(txn, slot, end->row, end->to == SLOT_S_FIXING);
		else if (!base_checked(txn, slot, end->row, end->to == SLOT_S_FIXING))
			round_check_failed(txn, slot, run_attempt(slot->run, slot->row->failed_check));
		return;
	}
	if (end->to == SLOT_S_FIXING && train_suspect(txn, slot))
		return;
	/* a merge is of trees that were green */
	if (end->to == SLOT_S_FIXING && !train_has(slot) && base_after_red(txn, slot, end->row))
		return;
	if (end->to == SLOT_S_FIXING)
		round_check_failed(txn, slot, end->row);
	else if (end->to == SLOT_S_CHECKOUT)
		measured_checked(txn, slot);
	else if (end->reason == MOVE_RERUN)
		slot_move(txn, slot, SLOT_S_CHECKING, end->to, &(struct move_why){ .reason = end->reason });
	else
		attempt_move(txn, slot, end);
}

static void recover(struct slot *slot)
{
	if (slot->row->merge == MERGE_SUSPECTED)
		train_look(slot);
	else if (slot->row->base == BASE_AWAITED)
		base_look(slot);
	else
		attempt_missing(slot);
}

const struct stage stage_checking = {
	.enter = enter,
	.result = result,
	.recover = recover,
};
