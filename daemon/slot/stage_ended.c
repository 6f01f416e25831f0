/* SPDX-License-Identifier: MIT */
/* PASSED, FAILED and CANCELLED: the slot has ended, and its teardown runs (slot/teardown.c). */
#include "core/state.h"
#include "model/slots.h"
#include "slot/baseline.h"
#include "slot/hold.h"
#include "slot/panel.h"
#include "slot/review_rows.h"
#include "slot/stages.h"
#include "slot/task_end.h"
#include "slot/teardown.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from;
	/* the task and the work tree are those of the slot that it judges */
	if (slot_is_voter(slot)) {
		panel_voter_ended(txn, slot);
		return;
	}
	task_end(txn, slot, why);
	if (slot_is_baseline(slot))
		baseline_ended(txn, slot);
	else
		review_log(txn, slot);
	leave_begin(txn, slot);
}

static void enter_cancelled(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	hold_close(txn, slot, HOLD_S_CANCELLED, NULL, NULL);
	enter(txn, slot, from, why);
}

const struct stage stage_passed = {
	.enter = enter,
	.result = leave_result,
	.recover = leave_act,
};

const struct stage stage_failed = {
	.enter = enter,
	.result = leave_result,
	.recover = leave_act,
};

const struct stage stage_cancelled = {
	.enter = enter_cancelled,
	.result = leave_result,
	.recover = leave_act,
};
