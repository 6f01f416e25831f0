/* SPDX-License-Identifier: MIT */
#include "job/run_result.h"

#include <math.h>
#include <string.h>

#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/slots.h"

const struct slot_row *run_result_slot(const struct run_rows *rows, const char *task)
{
	for (size_t i = rows->nslots; i > 0; i--) {
		const struct slot_row *slot = rows->slots[i - 1];

		if (slot->task != NULL && strcmp(slot->task, task) == 0 && !slot_row_is_beside(slot))
			return slot;
	}
	return NULL;
}

static bool is_base(const struct run_rows *rows, const char *commit)
{
	return rows->run.base_commit != NULL && strcmp(rows->run.base_commit, commit) == 0;
}

bool run_result_has_branch(const struct run_rows *rows, const struct task_row *task)
{
	const struct slot_row *slot = task->state == TASK_S_PASSED ? run_result_slot(rows, task->id) : NULL;

	return slot != NULL && slot->branch != NULL && slot->commit_id != NULL && !is_base(rows, slot->commit_id);
}

const char *run_result_decision(const struct run_rows *rows, const char *task)
{
	const char *wanted = task != NULL ? task : rows->ntasks == 1 ? rows->tasks[0]->id : SLOT_WHOLE_RUN;

	for (size_t i = rows->nreviews; i > 0; i--)
		if (strcmp(rows->reviews[i - 1]->task_id, wanted) == 0 && rows->reviews[i - 1]->reviewer == NULL)
			return rows->reviews[i - 1]->decision;
	return NULL;
}

double run_result_cost(const struct run_rows *rows, const char *task)
{
	double cost = NAN;

	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];

		if (a->task != NULL && strcmp(a->task, task) == 0 && !isnan(a->cost_usd))
			cost = (isnan(cost) ? 0 : cost) + a->cost_usd;
	}
	return cost;
}

struct run_result run_result_of(const struct run_rows *rows)
{
	const struct run_row *run = &rows->run;
	struct run_result result = { .commit = run->result_commit };
	const struct slot_row *only = NULL;

	for (size_t i = 0; i < rows->ntasks; i++) {
		if (!run_result_has_branch(rows, rows->tasks[i]))
			continue;
		only = run_result_slot(rows, rows->tasks[i]->id);
		result.branches++;
	}
	if (run->result_branch != NULL && run->result_commit != NULL) {
		result.branch = run->result_branch;
	} else if (result.branches == 1) {
		result.branch = only->branch;
		result.commit = only->commit_id;
	}
	return result;
}
