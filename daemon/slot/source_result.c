/* SPDX-License-Identifier: MIT */
#include "slot/source_result.h"

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
#include "slot/machine.h"
#include "slot/teardown.h"
#include "task/op.h"
#include "txn/txn.h"

/* The source says that somebody else has it: another task, while there is one. */
static void taken(struct txn *txn, struct slot *slot, const char *by)
{
	struct run *run = slot->run;
	struct task_row *task = txn_edit_task(txn, slot_task(slot));
	const struct task_row *next = NULL, **ready;
	size_t count;
	char *safe = text_escape(by, strlen(by), false), *text;

	run_claim(txn, run, task->id, CLAIM_S_FREE);
	task->state = TASK_S_TAKEN;
	text = xasprintf("taken: %s", safe);
	task_set_cause(task, CAUSE(END_TAKEN, text));
	free(text);
	free(safe);
	/* what is left to others makes nothing else ready */
	ready = task_ready(run->rows->tasks, run->rows->ntasks, SIZE_MAX, &count);
	for (size_t i = 0; next == NULL && i < count; i++) {
		if (!run_is_claimed_elsewhere(run, ready[i]->id)) {
			next = ready[i];
			continue;
		}
		task = txn_edit_task(txn, ready[i]);
		task->state = TASK_S_TAKEN;
		task_set_cause(task, CAUSE(END_TAKEN, "taken: another run works on it"));
	}
	free(ready);
	if (next == NULL) {
		slot_set_reason(txn_edit_slot(txn, slot), REASON(WAIT_TAKEN, "no task: somebody else has taken it"));
		txn_set_task(txn, slot, NULL);
		slot_move(txn, slot, SLOT_S_CLAIMING, SLOT_S_PASSED, NULL);
		return;
	}
	txn_set_task(txn, slot, next->id);
	run_claim(txn, run, next->id, CLAIM_S_HELD);
	txn_edit_task(txn, next)->state = TASK_S_CLAIMED;
	slot_move(txn, slot, SLOT_S_CLAIMING, SLOT_S_CLAIMING, NULL);
}

static void claimed(struct txn *txn, struct slot *slot)
{
	const char *by = task_op_taken(slot->op.task);

	slot->bd_claimed = by == NULL && task_op_has_bd(slot->op.task);
	if (by != NULL)
		taken(txn, slot, by);
	else
		slot_move(txn, slot, SLOT_S_CLAIMING, stage_after_claim(slot_plan(slot)), NULL);
}

/* bd is not on the PATH any more. */
static const char *const gone[TASK_OPS] = {
	[TASK_OP_CLOSE] = "bd, which gave it, is not there any more; it has passed, so close it there yourself (bd close)",
	[TASK_OP_RELEASE] = "bd, which gave it, is not there any more; give it back there yourself (bd update --status=open --assignee=)",
};

void source_done(struct txn *txn, struct slot *slot)
{
	switch (slot->op.task_kind) {
	case TASK_OP_CLAIM:
		claimed(txn, slot);
		break;
	case TASK_OP_CLOSE:
	case TASK_OP_RELEASE:
		leave_next(txn, slot, slot->bd_claimed && !task_op_has_bd(slot->op.task) ? gone[slot->op.task_kind] : NULL);
		break;
	case TASK_OP_LOAD:	/* of the run: see run/operation_result.c */
	case TASK_OPS:
		break;
	}
}
