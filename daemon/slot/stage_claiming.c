/* SPDX-License-Identifier: MIT */
/* CLAIMING: the task is claimed at its source, which says whether the slot may work on it. */
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/row.h"
#include "core/state.h"
#include "core/tasks.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "sched/claims.h"
#include "slot/base_check.h"
#include "slot/continue.h"
#include "slot/operation.h"
#include "slot/stages.h"
#include "task/task_op.h"
#include "txn/txn.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

/* Leave the task to its other claimant. */
static void set_taken(struct txn *txn, const struct task_row *row, const char *why)
{
	struct task_row *task = txn_edit_task(txn, row);

	task->state = TASK_S_TAKEN;
	task_set_cause(task, CAUSE(END_TAKEN, why));
}

/* The next task that no run works on; NULL: none. Tasks left to others make nothing else ready. */
static const struct task_row *next_task(struct txn *txn, struct run *run)
{
	size_t count;
	const struct task_row *next = NULL, **ready = task_ready(run->rows->tasks, run->rows->ntasks, SIZE_MAX, &count);

	for (size_t i = 0; next == NULL && i < count; i++) {
		if (!run_is_claimed_elsewhere(run, ready[i]->id))
			next = ready[i];
		else
			set_taken(txn, ready[i], "claimed by another run");
	}
	free(ready);
	return next;
}

/* The source says that the task is claimed elsewhere: claim another one, if there is one. */
static void taken(struct txn *txn, struct slot *slot, const char *by)
{
	struct run *run = slot->run;
	const struct task_row *task = slot_task(slot), *next;
	char *safe = text_escape(by, strlen(by), false), *text = xasprintf("taken: %s", safe);

	run_claim(txn, run, task->id, CLAIM_S_FREE);
	set_taken(txn, task, text);
	free(text);
	free(safe);
	next = next_task(txn, run);
	if (next == NULL) {
		slot_set_reason(txn_edit_slot(txn, slot), REASON(WAIT_TAKEN,
		    "no task: claimed by another program"));
		txn_set_task(txn, slot, NULL);
		slot_move(txn, slot, SLOT_S_CLAIMING, SLOT_S_PASSED, NULL);
		return;
	}
	txn_set_task(txn, slot, next->id);
	run_claim(txn, run, next->id, CLAIM_S_HELD);
	txn_edit_task(txn, next)->state = TASK_S_CLAIMED;
	slot_move(txn, slot, SLOT_S_CLAIMING, SLOT_S_CLAIMING, NULL);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const char *by = task_op_taken(slot->op.task);

	(void)done;
	slot->bd_claimed = by == NULL && task_op_has_bd(slot->op.task);
	if (by != NULL)
		taken(txn, slot, by);
	else
		slot_move(txn, slot, SLOT_S_CLAIMING,
		    base_before_work(txn, slot,
	    continue_before_work(txn, slot, stage_after_claim(slot_plan(slot)))), NULL);
}

static void recover(struct slot *slot)
{
	source_begin(slot, TASK_OP_CLAIM);
}

const struct stage stage_claiming = {
	.enter = enter,
	.result = result,
	.recover = recover,
};
