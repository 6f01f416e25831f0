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
	return cell_text(task, key);
}

static const struct table_column columns[] = {
	{ "TASK", 0, cell_text, .key = "id" },
	{ "STATE", 0, cell_text, "state", .paint_of = print_state_paint },
	{ "TITLE", TABLE_FLEXIBLE, cell_text, .key = "title" },
	{ "BRANCH", TABLE_FLEXIBLE, cell_text, .key = "branch", .paint = PAINT_DIM },
	{ "WHY", TABLE_FLEXIBLE, tasks_why, .key = "reason" },
};

/* In order of interest. */
static const char *const states[] = { "passed", "failed", "cancelled", "claimed", "open", "released", "taken", "done" };

static bool tasks_is_single(const json_t *run)
{
	return json_array_size(field_array(run, "tasks")) <= 1 && field_is(run, "source", "prompt");
}

static bool tasks_is_passed(const json_t *task)
{
	return field_is(task, "state", "passed");
}

char *tasks_count(const json_t *run)
{
	const json_t *tasks = field_array(run, "tasks");
	struct buf text = { 0 };

	if (tasks_is_single(run))
		return xstrdup("");
	buf_addf(&text, "%zu", json_array_size(tasks));
	for (size_t s = 0, named = 0; s < ARRAY_SIZE(states); s++) {
		size_t count = 0;

		for (size_t i = 0; i < json_array_size(tasks); i++)
			count += field_is(json_array_get(tasks, i), "state", states[s]);
		if (count > 0)
			buf_addf(&text, "%s%zu %s", named++ == 0 ? ": " : ", ", count, states[s]);
	}
	return buf_take(&text, NULL);
}

void tasks_print(const struct print *p, const json_t *run)
{
	if (!tasks_is_single(run))
		table_print_apart(p, columns, ARRAY_SIZE(columns), field_array(run, "tasks"));
}

/* Number of passed tasks with commits on a branch of their own; *one is the last of them. A branch
 * without commits was removed with its work tree. */
static size_t tasks_count_branches(const json_t *run, const json_t **one)
{
	const json_t *tasks = field_array(run, "tasks");
	const char *base = field_text(run, "base_commit");
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(tasks); i++) {
		const json_t *task = json_array_get(tasks, i);

		if (!tasks_is_passed(task) || *field_text(task, "branch") == '\0' ||
		    *field_text(task, "commit") == '\0' || field_is(task, "commit", base))
			continue;
		*one = task;
		count++;
	}
	return count;
}

bool tasks_have_result(const json_t *run)
{
	const json_t *tasks = field_array(run, "tasks");
	bool passed = field_is(run, "state", "succeeded");

	for (size_t i = 0; !passed && i < json_array_size(tasks); i++)
		passed = tasks_is_passed(json_array_get(tasks, i));
	return passed;
}

char *tasks_branch(const json_t *run)
{
	const char *branch = field_text(run, "result_branch");
	const json_t *one = NULL;

	if (!tasks_have_result(run))
		branch = "";
	else if (*branch == '\0' || *field_text(run, "result_commit") == '\0')
		branch = tasks_count_branches(run, &one) == 1 ? field_text(one, "branch") : "";
	return xstrdup(branch);
}

void tasks_add_totals(struct table *facts, const json_t *totals)
{
	table_fact(facts, "took", PAINT_NONE, cell_duration(totals, "wall_ms"));
	table_fact(facts, "tokens", PAINT_NONE, cell_tokens(totals, NULL));
	table_fact(facts, "cost", PAINT_NONE, cell_cost(totals, "cost_usd"));
}

void tasks_add_result(struct table *facts, const json_t *run)
{
	const char *commit = field_text(run, "result_commit");
	bool over = exit_is_final(field_text(run, "state"));
	const json_t *one = NULL;
	size_t branches = tasks_count_branches(run, &one);
	char *branch = tasks_branch(run);

	table_member(facts, "result", PAINT_BOLD, run, "result_ref");
	table_fact(facts, "commit", PAINT_BOLD, xstrdup(commit));
	/* created by the first merge */
	table_fact(facts, "branch", PAINT_BOLD,
	    xstrdup(over && *commit == '\0' ? "" : field_text(run, "result_branch")));
	if (over && *branch != '\0') {
		table_fact(facts, "to merge it", PAINT_NONE, xasprintf("git merge %s", branch));
		table_fact(facts, "or else", PAINT_NONE,
		    xasprintf(
		        "git cherry-pick %.12s..%s, without what was uncommitted at the start",
		        field_text(run, "base_commit"), branch));
	} else if (over && branches > 1) {
		table_fact(facts, "to merge it", PAINT_NONE,
		    xasprintf("git merge BRANCH, for each of the %zu tasks that passed", branches));
	} else if (over && *commit != '\0' && *field_text(run, "result_branch") != '\0') {
		table_fact(facts, "to show it", PAINT_NONE,
		    xasprintf("git log -p %.12s..%s, which passed no review",
		        field_text(run, "base_commit"), field_text(run, "result_branch")));
	} else if (over && *commit != '\0') {
		table_fact(facts, "to show it", PAINT_NONE, xasprintf("git show %.12s", commit));
	}
	free(branch);
}
