/* SPDX-License-Identifier: MIT */
#include "slot/task_end.h"

#include "core/cause.h"
#include "core/row.h"
#include "core/state.h"
#include "model/slots.h"
#include "slot/hooks.h"
#include "txn/txn.h"

static const enum task_state states[SLOT_STAGES] = {
	[SLOT_S_HELD] = TASK_S_CLAIMED,
	[SLOT_S_IMPLEMENTED] = TASK_S_IMPLEMENTED,
	[SLOT_S_PASSED] = TASK_S_PASSED,
	[SLOT_S_FAILED] = TASK_S_FAILED,
	[SLOT_S_CANCELLED] = TASK_S_CANCELLED,
};

void task_end(struct txn *txn, const struct slot *slot, const struct move_why *why)
{
	bool released = why->reason == MOVE_RELEASED;
	struct task_row *task;

	if (slot_task(slot) == NULL)
		return;
	task = txn_edit_task(txn, slot_task(slot));
	task->state = released ? TASK_S_RELEASED : (int)states[slot->row->stage];
	task_set_cause(task, released ? CAUSE(END_STOP_MARKER, slot->row->reason) : slot_cause(slot->row));
	/* the review of a run of one task is about that task, which its own slot ends once more */
	if (task->state == TASK_S_PASSED && slot->row->slot != 0)
		hook_add_pass(txn, slot);
}
