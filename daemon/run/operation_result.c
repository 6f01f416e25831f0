/* SPDX-License-Identifier: MIT */
#include "run/operation_result.h"

#include "core/cause.h"
#include "core/row.h"
#include "model/runs.h"
#include "model/slots.h"
#include "run/lifecycle.h"
#include "run/preparation.h"
#include "run/task_load.h"
#include "slot/attempt.h"
#include "slot/edits.h"
#include "slot/machine.h"
#include "task/task_op.h"

static void done(struct txn *txn, struct slot *slot, int64_t last_step)
{
	if (slot->row == NULL && slot->op.of_source)
		run_loaded(txn, slot->run, task_op_list(slot->op.task), task_op_has_bd(slot->op.task));
	else if (slot->row == NULL)
		run_git_done(txn, slot->run);
	else if (slot_starts_writing(slot))
		edits_found(txn, slot);
	else
		slot_result(txn, slot, &(struct stage_result){ .step = last_step });
}

static void failed(struct txn *txn, struct slot *slot, struct cause cause)
{
	if (slot->row == NULL)
		run_failed(txn, slot->run, cause);
	else if (slot_starts_writing(slot))
		edits_unknown(txn, slot, cause.text);
	else
		slot_result(txn, slot, &(struct stage_result){ .step = ROW_NONE, .failure = cause });
}

const struct operation_calls operation_results = {
	.done = done,
	.failed = failed,
	.ended = attempt_cancelled,
};
