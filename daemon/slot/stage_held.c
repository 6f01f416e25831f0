/* SPDX-License-Identifier: MIT */
/* HELD: the slot waits for a decision, which moves it on: run/hold_decision.c, and hold_go_on(). */
#include "core/row.h"
#include "model/slots.h"
#include "slot/hold.h"
#include "slot/panel.h"
#include "slot/stages.h"
#include "slot/task_end.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from;
	if (slot_is_voter(slot)) {
		panel_voter_ended(txn, slot);
		return;
	}
	hold_open(txn, slot, why->hold, slot->row->cause);
	task_end(txn, slot, why);
}

const struct stage stage_held = {
	.enter = enter,
};
