/* SPDX-License-Identifier: MIT */
/* WAITING: the slot waits for its first permit. With assign = "agent" it first waits until earlier
 * slots have picked: slot/agent_pick.c. Slots are created in this stage; none moves to it. */
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/row.h"
#include "model/activity.h"
#include "model/runs.h"
#include "model/slots.h"
#include "sched/permits.h"
#include "slot/base_check.h"
#include "slot/continue.h"
#include "slot/stages.h"

/* The slot has its permit. An agent that picks a task claims it itself. */
static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	bool claims = run_source(slot->run) == SOURCE_BEADS && slot->row->task != NULL;

	(void)done;
	slot_move(txn, slot, SLOT_S_WAITING, base_before_work(txn, slot,
	    continue_before_work(txn, slot, first_stage(slot_plan(slot), claims))), NULL);
}

static void recover(struct slot *slot)
{
	if (slot->run->plan.assign == ASSIGN_AGENT && slot->row->task == NULL && slot->row->slot > 1)
		activity_wait(&slot->activity, ACTIVITY_PICK);
	else
		queue_want(slot);
}

const struct stage stage_waiting = {
	.result = result,
	.recover = recover,
};
