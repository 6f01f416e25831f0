/* SPDX-License-Identifier: MIT */
#include "run/operation_result.h"

#include "core/cause.h"
#include "core/row.h"
#include "core/state.h"
#include "model/runs.h"
#include "model/slots.h"
#include "run/lifecycle.h"
#include "run/preparation.h"
#include "run/task_load.h"
#include "slot/git_result.h"
#include "slot/machine.h"
#include "slot/source_result.h"
#include "slot/teardown.h"
#include "task/op.h"

static void done(struct txn *txn, struct slot *slot, int64_t last_step)
{
	if (slot->row == NULL && slot->op.of_source)
		run_loaded(txn, slot->run, task_op_list(slot->op.task), task_op_has_bd(slot->op.task));
	else if (slot->row == NULL)
		run_git_done(txn, slot->run);
	else if (slot->op.of_source)
		source_done(txn, slot);
	else
		git_done(txn, slot, last_step);
}

static void failed(struct txn *txn, struct slot *slot, struct cause cause)
{
	if (slot->row == NULL)
		run_failed(txn, slot->run, cause);
	else if (slot->row->leaving != LEAVING_NOTHING)
		leave_next(txn, slot, cause.text);
	else
		slot_fail(txn, slot, cause);
}

const struct operation_calls operation_results = {
	.done = done,
	.failed = failed,
};
