/* SPDX-License-Identifier: MIT */
/* What a run asks of its task source, and what the answer means. */
#include "slot/task_source.h"

#include <stdlib.h>
#include <string.h>

#include "core/backoff.h"
#include "core/cause.h"
#include "core/next_stage.h"
#include "core/row.h"
#include "core/state.h"
#include "core/tasks.h"
#include "job/next_step.h"
#include "model/activity.h"
#include "model/dirs.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "run/loop.h"
#include "sched/claims.h"
#include "slot/machine.h"
#include "slot/operation.h"
#include "slot/teardown.h"
#include "slot/wait.h"
#include "task/op.h"
#include "txn/txn.h"

void source_begin(struct slot *slot, enum task_op_kind kind)
{
	operation_free(&slot->op);
	slot->op.of_source = true;
	slot->op.task_kind = kind;
	step_first(slot);
}

void source_spec(const struct slot *slot, struct source_spec *spec)
{
	const struct run_row *run = &slot->run->rows->run;

	spec->kind = slot->op.task_kind;
	spec->source = run_source(slot->run);
	spec->path = xstrdup(run->source_path);
	spec->task = slot->row != NULL ? xstrdup(slot->row->task) : NULL;
	spec->actor = work_actor(slot->run->engine->state_dir, run);
	spec->reason = xasprintf("passed in run %lld of rld", (long long)run->id);
}

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

/* For how long a failure of the source is waited for, by what it tells of itself: what may last is tried again for a while, since a program that
 * is not known here may be busy in words of its own. What is owed to the source is not forgotten soon. */
#define FOR_EVER INT64_MAX
#define A_WHILE (INT64_C(5) * 1000)
#define LONGER (INT64_C(10) * 60 * 1000)

static const int64_t patience[TASK_OPS][TROUBLES] = {
	[TASK_OP_LOAD] = { [TROUBLE_UNCLEAR] = A_WHILE, [TROUBLE_PASSES] = FOR_EVER },
	[TASK_OP_CLAIM] = { [TROUBLE_UNCLEAR] = A_WHILE, [TROUBLE_PASSES] = FOR_EVER },
	[TASK_OP_CLOSE] = { [TROUBLE_UNCLEAR] = LONGER, [TROUBLE_PASSES] = FOR_EVER },
	[TASK_OP_RELEASE] = { [TROUBLE_UNCLEAR] = LONGER, [TROUBLE_PASSES] = FOR_EVER },
};

bool source_may_pass(struct slot *slot)
{
	return slot->op.task != NULL && slot_waited_ms(slot) < patience[slot->op.task_kind][task_op_trouble(slot->op.task)];
}

/* bd is not on the PATH any more. */
static const char *const gone[TASK_OPS] = {
	[TASK_OP_CLOSE] = "bd, which gave it, is not there any more; it has passed, so close it there yourself (bd close)",
	[TASK_OP_RELEASE] = "bd, which gave it, is not there any more; give it back there yourself (bd update --status=open --assignee=)",
};

void source_done(struct txn *txn, struct slot *slot)
{
	switch (slot->op.task_kind) {
	case TASK_OP_LOAD:
		run_loaded(txn, slot->run, task_op_list(slot->op.task), task_op_has_bd(slot->op.task));
		break;
	case TASK_OP_CLAIM:
		claimed(txn, slot);
		break;
	case TASK_OP_CLOSE:
	case TASK_OP_RELEASE:
		leave_next(txn, slot, slot->bd_claimed && !task_op_has_bd(slot->op.task) ? gone[slot->op.task_kind] : NULL);
		break;
	case TASK_OPS:
		break;
	}
}
