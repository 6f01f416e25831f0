/* SPDX-License-Identifier: MIT */
#include "job/run_overview.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "job/run_result.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "proto/run_class.h"

void overview_init(struct run_overview *o)
{
	*o = (struct run_overview){ .cost = NAN };
}

void overview_release(struct run_overview *o)
{
	free(o->title);
	free(o->task);
	free(o->reason);
	free(o->branch);
}

void overview_count(struct run_overview *o, const struct task_row *task, size_t count)
{
	int64_t position = task->position == ROW_NONE ? 0 : task->position;

	if (o->tasks == 0 || position < o->first) {
		text_set(&o->title, task->title);
		o->first = position;
	}
	o->tasks += count;
	o->states[task->state] += count;
}

void overview_blame(struct run_overview *o, const char *task, const char *reason)
{
	if (o->task != NULL)
		return;
	o->task = xstrdup(task);
	o->reason = xstrdup(reason);
}

void overview_spend(struct run_overview *o, double cost_usd)
{
	if (!isnan(cost_usd))
		o->cost = (isnan(o->cost) ? 0 : o->cost) + cost_usd;
}

void overview_branch(struct run_overview *o, const char *branch, size_t count)
{
	o->branches += count;
	text_set(&o->branch, o->branches == 1 ? branch : NULL);
}

/* The run ended as this task did. */
static bool is_cause(const struct run_row *run, const struct task_row *task)
{
	return run->end_kind != END_NONE && task->end_kind == run->end_kind &&
	    task->reason != NULL && (task->state == TASK_S_FAILED || task->state == TASK_S_PASSED);
}

static bool is_before(const struct task_row *a, const struct task_row *b)
{
	return b == NULL || a->position < b->position;
}

struct run_overview overview_of(const struct run_rows *rows)
{
	const struct task_row *blamed = NULL;
	struct run_overview o;

	overview_init(&o);
	for (size_t i = 0; i < rows->nholds; i++) {
		if (rows->holds[i]->state != HOLD_S_OPEN)
			continue;
		o.held++;
		overview_blame(&o, rows->holds[i]->task, rows->holds[i]->reason);
	}
	for (size_t i = 0; i < rows->ntasks; i++) {
		overview_count(&o, rows->tasks[i], 1);
		if (is_cause(&rows->run, rows->tasks[i]) && is_before(rows->tasks[i], blamed))
			blamed = rows->tasks[i];
		if (run_result_has_branch(rows, rows->tasks[i]))
			overview_branch(&o, run_result_slot(rows, rows->tasks[i]->id)->branch, 1);
	}
	if (blamed != NULL)
		overview_blame(&o, blamed->id, blamed->reason);
	for (size_t i = 0; i < rows->nattempts; i++)
		overview_spend(&o, rows->attempts[i]->cost_usd);
	return o;
}

static bool is_over(const struct run_row *run)
{
	return run_class_of(state_name(&run_state_names, run->state), (enum end_kind)run->end_kind) != NULL;
}

static bool is_merged(const struct run_row *run)
{
	return run->result_branch != NULL && run->result_commit != NULL;
}

/* NULL: there is none, or no single one. */
static const char *result_branch(const struct run_overview *o, const struct run_row *run)
{
	bool passed = o->states[TASK_S_PASSED] > 0 || run->state == RUN_S_SUCCEEDED;

	if (!is_over(run) || !passed)
		return NULL;
	return is_merged(run) ? run->result_branch : o->branch;
}

static json_t *states(const struct run_overview *o)
{
	json_t *json = json_object();

	for (int i = 0; i < TASK_STATES; i++)
		json_object_set_new(json, state_name(&task_state_names, i),
		    json_integer((json_int_t)o->states[i]));
	return json;
}

/* Of a run with one task, its name would say nothing. */
static bool names_task(const struct run_overview *o, const struct run_row *run)
{
	return o->tasks > 1 && o->task != NULL && (run->end_kind != END_NONE || o->held > 0);
}

static json_t *why(const struct run_overview *o, const struct run_row *run)
{
	char *text = names_task(o, run) ? xasprintf("%s: %s", o->task, o->reason) : NULL;
	json_t *json = json_text(text != NULL ? text : run->cause != NULL ? run->cause : run->reason);

	free(text);
	return json;
}

/* Takes ownership of text. */
static json_t *command(char *text)
{
	json_t *json = json_text(text);

	free(text);
	return json;
}

/* How to see a commit that is not offered: it passed no review, or is in the directory already. */
static char *show_command(const struct run_overview *o, const struct run_row *run)
{
	if (!is_over(run) || run->result_commit == NULL || o->branches > 1)
		return NULL;
	return run->result_branch != NULL && run->base_commit != NULL
	    ? xasprintf("git log -p %.12s..%s", run->base_commit, run->result_branch)
	    : xasprintf("git show %.12s", run->result_commit);
}

json_t *overview_json(const struct run_overview *o, const struct run_row *run)
{
	const char *branch = result_branch(o, run);
	bool has = branch != NULL;

	return json_pack("{s:I,s:o,s:I,s:o,s:o,s:o,s:o,s:I,s:o,s:o,s:o}", "tasks", (json_int_t)o->tasks,
	    "states", states(o), "held", (json_int_t)o->held, "task",
	    names_task(o, run) ? json_text(o->task) : json_null(), "why", why(o, run), "cost_usd",
	    isnan(o->cost) ? json_null() : json_real(o->cost), "branch", json_text(branch),
	    "branches", (json_int_t)(is_merged(run) ? has : is_over(run) ? o->branches : 0),
	    "take", command(has ? xasprintf("git merge %s", branch) : NULL),
	    "pick", command(has && run->base_commit != NULL
	        ? xasprintf("git cherry-pick %.12s..%s", run->base_commit, branch) : NULL),
	    "show", command(has ? NULL : show_command(o, run)));
}
