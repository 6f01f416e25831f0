/* SPDX-License-Identifier: MIT */
/* Requests of a run to its task source, and for how long failures are retried. */
#include "slot/task_source.h"

#include <stdint.h>

#include "core/backoff.h"
#include "core/row.h"
#include "job/operation_step.h"
#include "model/dirs.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/wait.h"
#include "task/task_op.h"

void source_spec(const struct slot *slot, struct source_spec *spec)
{
	const struct run_row *run = &slot->run->rows->run;

	spec->kind = slot->op.task_kind;
	spec->source = run_source(slot->run);
	spec->path = xstrdup(run->source_path);
	spec->task = slot->row != NULL ? xstrdup(slot->row->task) : NULL;
	spec->actor = run_actor(slot->run->engine->state_dir, run);
	spec->reason = xasprintf("passed in run %lld of rld", (long long)run->id);
}

/* How long to retry after a failure of the source, depending on its kind: an unclear one is
 * retried for a while, because an unknown message may mean a busy program. Updates owed to the
 * source are retried for long. */
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
	return slot->op.task != NULL &&
	    slot_waited_ms(slot) < patience[slot->op.task_kind][task_op_trouble(slot->op.task)];
}
