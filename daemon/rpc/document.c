/* SPDX-License-Identifier: MIT */
#include "rpc/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/budget.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "core/profile.h"
#include "core/slot.h"
#include "job/run_overview.h"
#include "job/task_list.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/pruned.h"

/* What delays a run or slot from outside is its reason; the next try is shown as for other
 * waits. */
static void add_wait(json_t *json, int kind, const char *reason, int64_t until)
{
	json_object_del(json, "wait_reason");
	json_object_del(json, "wait_until");
	if (kind == WAIT_NOTHING)
		return;
	json_object_set_new(json, "reason", json_text(reason));
	json_object_set_new(json, "wait_kind", json_text(state_name(&wait_kind_names, kind)));
	json_object_set_new(json, "next_at", json_time(until));
}

json_t *run_summary(const struct run_row *run, const struct run_overview *overview)
{
	json_t *json = json_row(ROW_RUN, run);

	add_wait(json, run->wait, run->wait_reason, run->wait_until);

	json_object_set_new(json, "title", json_text(overview->title));
	json_object_set_new(json, "overview", overview_json(overview, run));
	json_object_set_new(json, "warnings", json_document(run->warnings, json_array()));
	json_object_set_new(json, "labels", json_document(run->labels, json_object()));
	json_object_set_new(json, "known_issues", json_document(run->known_issues, json_array()));
	return json;
}

json_t *attempt_document(const struct attempt_row *row)
{
	json_t *json = json_row(ROW_ATTEMPT, row);

	json_results(json, row);
	json_object_set_new(json, "tokens", json_pack("{s:o,s:o,s:o,s:o,s:o}", "input", json_int(row->tokens_input),
	    "cached", json_int(row->tokens_cached), "cache_write", json_int(row->tokens_cache_write),
	    "output", json_int(row->tokens_output), "reasoning", json_int(row->tokens_reasoning)));
	return json;
}

static void document_add(int64_t *sum, int64_t value)
{
	if (value != ROW_NONE)
		*sum = (*sum == ROW_NONE ? 0 : *sum) + value;
}

/* null if no attempt reported anything. Reasoning tokens are part of the output tokens. */
static json_t *document_totals(const struct run_rows *rows, int64_t now)
{
	int64_t tokens = ROW_NONE, wall = ROW_NONE;
	double cost = NAN;

	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];

		document_add(&tokens, a->tokens_input);
		document_add(&tokens, a->tokens_cached);
		document_add(&tokens, a->tokens_cache_write);
		document_add(&tokens, a->tokens_output);
		if (!isnan(a->cost_usd))
			cost = (isnan(cost) ? 0 : cost) + a->cost_usd;
	}
	if (rows->run.started_at != ROW_NONE)
		wall = (rows->run.ended_at != ROW_NONE ? rows->run.ended_at : now) - rows->run.started_at;
	return json_pack("{s:o,s:o,s:o}", "tokens", json_int(tokens), "cost_usd",
	    isnan(cost) ? json_null() : json_real(cost), "wall_ms", json_int(wall));
}

static json_t *limit(double value, bool whole)
{
	return isnan(value) ? json_null() : whole ? json_integer((json_int_t)value) : json_real(value);
}

/* Limits and use of the run's budget; null: no limit. */
static json_t *budget(const struct run_rows *rows, const struct plan *plan, int64_t now)
{
	struct budget b = budget_of_run(plan, &rows->run, rows->attempts, rows->nattempts, ROW_NONE, now);

	if (!budget_has_cap(&b))
		return json_null();
	return json_pack("{s:o,s:f,s:f,s:o,s:I,s:I,s:o,s:I}",
	    "max_cost_usd", limit(b.cap[BUDGET_COST], false), "spent_usd", b.spent[BUDGET_COST],
	    "reserved_usd", b.reserved[BUDGET_COST], "max_tokens",
	    limit(b.cap[BUDGET_TOKENS], true), "spent_tokens", (json_int_t)b.spent[BUDGET_TOKENS],
	    "reserved_tokens", (json_int_t)b.reserved[BUDGET_TOKENS],
	    "max_wall_ms", limit(b.cap[BUDGET_WALL], true), "wall_ms", (json_int_t)b.spent[BUDGET_WALL]);
}

static bool is_at_work(const struct slot_row *slot)
{
	return !slot_row_is_free(slot);
}

/* Index of the first slot that is shown though its task has ended: each of the run's slots shows
 * its last task until it has another. */
static size_t first_ended(const struct run_rows *rows, int64_t parallel)
{
	size_t first = rows->nslots;

	for (size_t i = 0; i < rows->nslots; i++)
		parallel -= rows->slots[i]->iteration == rows->run.iteration && rows->slots[i]->slot > 0 &&
		    !slot_row_is_beside(rows->slots[i]) && is_at_work(rows->slots[i]);
	for (; first > 0 && rows->slots[first - 1]->iteration == rows->run.iteration; first--) {
		const struct slot_row *slot = rows->slots[first - 1];

		if (slot->slot > 0 && !slot_row_is_beside(slot) && !is_at_work(slot) && parallel-- <= 0)
			break;
	}
	return first;
}

/* The slots of the current iteration: those at work, and those that are free. */
static json_t *slots(const struct run_rows *rows, int64_t parallel)
{
	json_t *list = json_array(), *json;
	size_t ended = first_ended(rows, parallel);

	for (size_t i = 0; i < rows->nslots; i++) {
		const struct slot_row *slot = rows->slots[i];

		if (slot->iteration != rows->run.iteration || slot->voter_of != ROW_NONE)
			continue;
		if (slot->slot > 0 && slot->slot != SLOT_BASELINE && i < ended && !is_at_work(slot))
			continue;
		json = json_row(ROW_SLOT, slot);
		add_wait(json, slot->wait, slot->wait_reason, slot->wait_until);
		json_object_set_new(json, "phase", json_string(state_name(&slot_phase_names, slot_row_phase(slot))));
		json_array_append_new(list, json);
	}
	return list;
}

/* How often each was the result of a check, and how often none was run. */
static json_t *checks(const struct run_rows *rows)
{
	json_int_t count[EVIDENCE_RESULTS] = { 0 }, reused = 0;

	for (size_t i = 0; i < rows->nevidence; i++) {
		const struct evidence_row *e = rows->evidence[i];

		if (e->kind == EVIDENCE_CHECK && e->from_attempt != ROW_NONE)
			reused++;
		else if (e->kind == EVIDENCE_CHECK)
			count[e->result]++;
	}
	return json_pack("{s:I,s:I,s:I,s:I}", "green", count[EVIDENCE_GREEN], "red", count[EVIDENCE_RED],
	    "flaky", count[EVIDENCE_FLAKY], "reused", reused);
}

/* Disk usage of the work trees of all tasks, as last checked. */
static int64_t disk_bytes(const struct run_rows *rows)
{
	int64_t sum = ROW_NONE;

	for (size_t i = 0; i < rows->ntasks; i++)
		document_add(&sum, rows->tasks[i]->disk_bytes);
	return sum;
}

/* Iterations so far. */
static json_t *history(const struct run_rows *rows)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->niterations; i++)
		json_array_append_new(list, json_row(ROW_ITERATION, rows->iterations[i]));
	return list;
}

/* Open holds. */
static json_t *open_holds(const struct run_rows *rows)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->nholds; i++) {
		if (rows->holds[i]->state == HOLD_S_OPEN)
			json_array_append_new(list, json_row(ROW_HOLD, rows->holds[i]));
	}
	return list;
}

static json_t *texts(char *const *list)
{
	json_t *array = json_array();

	for (; list != NULL && *list != NULL; list++)
		json_array_append_new(array, json_text(*list));
	return array;
}

/* Of a panel. */
static json_t *reviewers(const struct plan *plan)
{
	json_t *array = json_array();

	for (size_t i = 0; i < plan->nreviewers; i++)
		json_array_append_new(array, json_text(plan->reviewers[i].name));
	return array;
}

/* The settings of the run that users ask for. */
static void set_plan(json_t *json, const struct run_rows *rows, const struct plan *plan, int64_t now)
{
	json_t *agents = json_object();

	json_object_set_new(json, "budget", budget(rows, plan, now));

	for (int role = 0; role < ROLES; role++) {
		if (plan->agents[role].name != NULL)
			json_object_set_new(agents, state_name(&role_names, role), json_pack("{s:o,s:o}",
			    "agent", json_text(plan->agents[role].name), "model", json_text(plan->agents[role].model)));
	}
	json_object_set_new(json, "agents", agents);
	json_object_set_new(json, "parallel", json_integer((json_int_t)plan->parallel));
	json_object_set_new(json, "assign", json_string(state_name(&assign_names, (int)plan->assign)));
	json_object_set_new(json, "review",
	    json_pack("{s:b,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:I,s:I,s:s,s:s,s:s,s:s,s:I}", "enabled", plan->review,
	    "skip_reason", json_text(plan->skip_reason),
	    "skip_kind", json_text(state_name(&skip_kind_names, (int)plan->skip_kind)),
	    "profile", json_text(plan->profile_name != NULL ? plan->profile_name : plan->profile->name),
	    "base_profile", plan->profile->name, "escalate", texts(plan->escalate),
	    "reviewers", reviewers(plan), "quorum", json_text(plan_has_panel(plan) ? plan->quorum : NULL),
	    "max_fixes", (json_int_t)plan->max_fixes, "stall_limit", (json_int_t)plan->stall_limit,
	    "fixer", state_name(&fixer_names, plan->fixer), "scope", state_name(&scope_names, plan->scope),
	    "commit", state_name(&commit_mode_names, plan->commit), "on_exhausted",
	    state_name(&bad_end_names, plan->on_exhausted),
	    "checks", (json_int_t)strings_count(plan->checks)));
}

json_t *run_document(const struct run_rows *rows, const struct plan *plan, int64_t now)
{
	struct plan stored = { 0 };
	const struct run_row *run = &rows->run;
	struct run_overview overview = overview_of(rows);
	json_t *json = run_summary(run, &overview);

	overview_release(&overview);
	if (plan == NULL && run->plan != NULL && plan_from_json(run->plan, &stored) == 0)
		plan = &stored;
	json_object_set_new(json, "slots", slots(rows, plan != NULL ? plan->parallel : INT64_MAX));
	json_object_set_new(json, "tasks", task_list_make(rows));
	json_object_set_new(json, "disk_bytes", json_int(disk_bytes(rows)));
	json_object_set_new(json, "attempts", json_integer((json_int_t)rows->nattempts));
	json_object_set_new(json, "totals", document_totals(rows, now));
	json_object_set_new(json, "checks", checks(rows));
	json_object_set_new(json, "holds", open_holds(rows));
	json_object_set_new(json, "dismissed", json_document(run->dismissed, json_array()));
	json_object_set_new(json, "disputed", json_document(run->disputed, json_array()));
	json_object_set_new(json, "pruned", pruned_json(rows));
	json_object_set_new(json, "history", history(rows));
	json_object_set_new(json, "result",
	    run->result_attempt == ROW_NONE ? json_null() : json_pack("{s:o,s:o,s:o,s:o}",
	    "attempt", json_int(run->result_attempt), "tree", json_text(run->result_tree), "ref",
	    json_text(run->result_ref), "commit", json_text(run->result_commit)));
	if (plan != NULL)
		set_plan(json, rows, plan, now);
	plan_release(&stored);
	return json;
}
