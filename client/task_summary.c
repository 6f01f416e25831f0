/* SPDX-License-Identifier: MIT */
#include "client/task_summary.h"

#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/exit.h"
#include "client/field.h"
#include "client/print.h"
#include "client/table.h"
#include "proto/memory.h"

/* Why it is where it is; nothing was said of a merge that gave a new tree. */
static char *tasks_why(const json_t *task, const char *key)
{
	if (field_is(task, "merge", "not_checked") && *field_text(task, key) == '\0')
		return xstrdup("merged, not checked");
	if (field_is(task, "merge", "checked_together") && *field_text(task, key) == '\0')
		return xstrdup("merged, checked with a later task");
	return cell_text(task, key);
}

/* "": it has no attempts. */
static char *tasks_took(const json_t *task, const char *key)
{
	return field_count(task, "attempts") == 0 ? xstrdup("") : cell_duration(task, key);
}

static const struct table_column columns[] = {
	{ "TASK", 0, cell_text, .key = "id" },
	{ "STATE", 0, cell_text, "state", .paint_of = print_state_paint },
	{ "ROUNDS", TABLE_RIGHT, cell_some, .key = "rounds" },
	{ "ATTEMPTS", TABLE_RIGHT, cell_some, .key = "attempts" },
	{ "TOOK", TABLE_RIGHT, tasks_took, .key = "wall_ms" },
	{ "COST", TABLE_RIGHT, cell_cost, .key = "cost_usd" },
	{ "TITLE", TABLE_FLEXIBLE, cell_text, .key = "title" },
	{ "BRANCH", TABLE_FLEXIBLE, cell_text, .key = "branch", .paint = PAINT_DIM },
	{ "WHY", TABLE_FLEXIBLE, tasks_why, .key = "reason" },
};

/* In order of interest. */
static const char *const states[] = { "passed", "failed", "cancelled", "claimed", "implemented", "open", "released",
	"taken", "done" };

/* A run has many tasks, or may get more: one line says too little. */
static bool tasks_is_single(const json_t *run)
{
	return json_array_size(field_array(run, "tasks")) <= 1 && field_is(run, "source", "prompt");
}

bool tasks_are_many(const json_t *run)
{
	return field_int(json_object_get(run, "overview"), "tasks") > 1;
}

/* "24 passed, 3 failed, 2 held" behind the first mark. */
static void tasks_add_states(struct buf *text, const json_t *overview, const char *mark)
{
	const json_t *counts = json_object_get(overview, "states");

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		if (field_count(counts, states[i]) == 0)
			continue;
		buf_addf(text, "%s%lld %s", mark, field_count(counts, states[i]), states[i]);
		mark = ", ";
	}
	if (field_count(overview, "held") > 0)
		buf_addf(text, "%s%lld held", mark, field_count(overview, "held"));
}

static char *tasks_states(const json_t *overview)
{
	struct buf text = { 0 };

	buf_addf(&text, "%lld", field_count(overview, "tasks"));
	tasks_add_states(&text, overview, ": ");
	return buf_take(&text, NULL);
}

char *tasks_count(const json_t *run)
{
	return tasks_is_single(run) ? xstrdup("") : tasks_states(json_object_get(run, "overview"));
}

char *tasks_counts(const json_t *run)
{
	const json_t *overview = json_object_get(run, "overview");
	struct buf text = { 0 };

	buf_addf(&text, "%lld tasks", field_count(overview, "tasks"));
	tasks_add_states(&text, overview, ": ");
	return buf_take(&text, NULL);
}

char *tasks_passed(const json_t *run)
{
	const json_t *overview = json_object_get(run, "overview");

	return xasprintf("%lld tasks, %lld passed", field_count(overview, "tasks"),
	    field_count(json_object_get(overview, "states"), "passed"));
}

void tasks_print(const struct print *p, const json_t *run)
{
	if (!tasks_is_single(run))
		table_print_apart(p, columns, ARRAY_SIZE(columns), field_array(run, "tasks"));
}

void tasks_add_totals(struct table *facts, const json_t *totals)
{
	table_fact(facts, "took", PAINT_NONE, cell_duration(totals, "wall_ms"));
	table_fact(facts, "tokens", PAINT_NONE, cell_tokens(totals, NULL));
	table_fact(facts, "cost", PAINT_NONE, cell_cost(totals, "cost_usd"));
}

/* The commands that take what passed, or show what is not to be taken. */
static void tasks_add_take(struct table *facts, const json_t *overview)
{
	const char *pick = field_text(overview, "pick"), *show = field_text(overview, "show");

	table_member(facts, "to merge it", PAINT_BOLD, overview, "take");
	if (*pick != '\0')
		table_fact(facts, "or else", PAINT_NONE,
		    xasprintf("%s, without what was uncommitted at the start", pick));
	if (field_count(overview, "branches") > 1)
		table_fact(facts, "to merge it", PAINT_NONE,
		    xasprintf("git merge BRANCH, for each of the %lld tasks that passed",
		        field_count(overview, "branches")));
	if (*show != '\0')
		table_fact(facts, "to show it", PAINT_NONE,
		    xasprintf("%s%s", show, strncmp(show, "git log", 7) == 0 ? ", which passed no review" : ""));
}

#define NAMED_MAX 5	/* lines of one kind before the table */

/* "T-07: the reviewer process exited with status 1" */
static char *tasks_line(const json_t *task)
{
	return xasprintf("%s: %s", field_text(task, "id"), field_text(task, "reason"));
}

/* Whether the task waits for something that is not another task. */
static bool tasks_waits(const json_t *task)
{
	const char *kind = field_text(task, "wait_kind");

	return *kind != '\0' && strcmp(kind, "task") != 0 && !field_is(task, "state", "open");
}

static bool tasks_failed(const json_t *task)
{
	return field_is(task, "state", "failed");
}

/* A line per task, then how many more there are. */
static void tasks_add_named(struct table *facts, const char *name, enum paint paint, const json_t *tasks,
    bool (*wanted)(const json_t *task))
{
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(tasks); i++) {
		const json_t *task = json_array_get(tasks, i);

		if (wanted(task) && ++count <= NAMED_MAX)
			table_fact(facts, name, paint, tasks_line(task));
	}
	if (count > NAMED_MAX)
		table_fact(facts, name, paint, xasprintf("%zu more, see below", count - NAMED_MAX));
}

static void tasks_add_holds(struct table *facts, const json_t *holds)
{
	for (size_t i = 0; i < json_array_size(holds); i++) {
		const json_t *hold = json_array_get(holds, i);

		if (field_is(hold, "state", "open"))
			table_fact(facts, "next", PAINT_NONE,
			    xasprintf("rlctl hold show %lld", field_count(hold, "id")));
	}
}

/* Why it ended, unless that is why one of the tasks named before has failed. */
static void tasks_add_cause(struct table *facts, const json_t *overview, const json_t *tasks)
{
	bool named = false;

	for (size_t i = 0; i < json_array_size(tasks) && !named; i++) {
		const json_t *task = json_array_get(tasks, i);

		named = (tasks_failed(task) || tasks_waits(task)) && field_is(overview, "task", field_text(task, "id"));
	}
	if (!named)
		table_member(facts, "cause", PAINT_NONE, overview, "why");
}

void tasks_add_overview(struct table *facts, const json_t *run, const json_t *totals)
{
	const json_t *overview = json_object_get(run, "overview"), *tasks = field_array(run, "tasks");

	table_fact(facts, "tasks", PAINT_BOLD, tasks_states(overview));
	tasks_add_named(facts, "failed", PAINT_RED, tasks, tasks_failed);
	tasks_add_named(facts, "waits", PAINT_YELLOW, tasks, tasks_waits);
	tasks_add_holds(facts, field_array(run, "holds"));
	if (!exit_is_final(field_text(run, "state")))
		table_fact(facts, "reason", PAINT_YELLOW, cell_reason(run, NULL));
	tasks_add_cause(facts, overview, tasks);
	tasks_add_totals(facts, totals);
	tasks_add_take(facts, overview);
}

void tasks_name(const json_t *run, const json_t *attempts)
{
	for (size_t i = 0; tasks_are_many(run) && i < json_array_size(attempts); i++) {
		json_t *attempt = json_array_get(attempts, i);

		json_object_set_new(attempt, "of", json_string(field_text(attempt, "task")));
	}
}

bool tasks_have_result(const json_t *run)
{
	return field_is(run, "state", "succeeded") ||
	    field_count(json_object_get(json_object_get(run, "overview"), "states"), "passed") > 0;
}

void tasks_add_result(struct table *facts, const json_t *run)
{
	const char *commit = field_text(run, "result_commit");
	bool over = exit_is_final(field_text(run, "state"));

	table_member(facts, "result", PAINT_BOLD, run, "result_ref");
	table_fact(facts, "commit", PAINT_BOLD, xstrdup(commit));
	/* created by the first merge */
	table_fact(facts, "branch", PAINT_BOLD,
	    xstrdup(over && *commit == '\0' ? "" : field_text(run, "result_branch")));
	if (!tasks_are_many(run))
		tasks_add_take(facts, json_object_get(run, "overview"));
}
