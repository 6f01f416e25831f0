/* SPDX-License-Identifier: MIT */
/* IMPLEMENTING: an agent does the slot's task, or picks one first. */
#include "core/plan.h"
#include "core/row.h"
#include "core/state.h"
#include "model/slots.h"
#include "slot/attempt.h"
#include "slot/attempt_result.h"
#include "slot/attempt_start.h"
#include "slot/round.h"
#include "slot/stages.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	attempt_begin(txn, slot, ROLE_IMPLEMENT);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct attempt_end *end = done->attempt;
	const struct plan *plan = slot_plan(slot);

	attempt_take_answer(txn, slot, end);
	if (end->failed && plan->review)
		review_skip(txn, slot, SKIP_FAILED);
	else if (end->reason == MOVE_RELEASED)
		attempt_gives_back(txn, slot, end);
	else if (end->to == SLOT_S_PASSED)
		review_skip(txn, slot, plan->skip_kind);
	attempt_move(txn, slot, end);
}

const struct stage stage_implementing = {
	.enter = enter,
	.result = result,
	.recover = attempt_build,
};
