/* SPDX-License-Identifier: MIT */
/* rlctl show: details of a run or an attempt. */
#include "client/cell.h"

#include <stdlib.h>
#include <string.h>

#include "client/budget_text.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/lines.h"
#include "client/message.h"
#include "client/print.h"
#include "client/review_command.h"
#include "client/screen.h"
#include "client/settings_text.h"
#include "client/status_tag.h"
#include "client/table.h"
#include "client/task_summary.h"
#include "client/watch_data.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "proto/units.h"

static char *show_attempt_name(const json_t *attempt, const char *key)
{
	return xasprintf("%lld/%lld", field_count(attempt, "run"), field_count(attempt, key));
}

/* "n1", "slurm" until that is known; "": here. */
static char *cell_node(const json_t *attempt, const char *key)
{
	(void)key;
	return xstrdup(field_either(attempt, "node", "launcher"));
}

static const struct table_column attempt_columns[] = {
	{ "ATTEMPT", 0, show_attempt_name, .key = "number" },
	{ "TASK", 0, cell_text, .key = "of" },
	{ "ROLE", 0, cell_text, .key = "role" },
	{ "AGENT", 0, cell_text, .key = "agent" },
	{ "NODE", 0, cell_node, .key = NULL },
	{ "STATE", 0, cell_text, "state", .paint_of = print_state_paint },
	{ "EXIT", TABLE_RIGHT, cell_exit, .key = NULL },
	{ "OUTCOME", 0, cell_text, .key = "outcome" },
	{ "FAULT", 0, cell_fault, .key = NULL, .paint = PAINT_RED },
	{ "DENIED", TABLE_RIGHT, cell_some, .key = "denials" },
	{ "TOOL ERRORS", TABLE_RIGHT, cell_some, .key = "tool_errors" },
	{ "TOOK", TABLE_RIGHT, cell_took, .key = NULL },
	{ "TOKENS", TABLE_RIGHT, cell_tokens, .key = NULL },
	{ "COST", TABLE_RIGHT, cell_cost, .key = "cost_usd" },
	{ "WHY", TABLE_FLEXIBLE, cell_text, .key = "cause" },
};

/* As rlctl watch names it: "A1", "all", "base". */
static char *show_slot_name(const json_t *slot, const char *key)
{
	return status_tag_name(field_int(slot, key));
}

static const struct table_column slot_columns[] = {
	{ "SLOT", 0, show_slot_name, .key = "slot" },
	{ "PHASE", 0, cell_text, "phase", .paint_of = print_state_paint },
	{ "TASK", 0, cell_text, .key = "task" },
	{ "ROUND", TABLE_RIGHT, cell_number, .key = "round" },
	{ "FIXES", TABLE_RIGHT, cell_number, .key = "fix" },
	{ "BRANCH", TABLE_FLEXIBLE, cell_text, .key = "branch" },
	{ "WORK TREE", TABLE_FLEXIBLE, cell_text, .key = "worktree", .paint = PAINT_DIM },
	{ "WHY", TABLE_FLEXIBLE, cell_why, .key = NULL },
};

static void show_state(const struct print *p, const json_t *object)
{
	const char *state = field_text(object, "state");

	print_painted(p, print_state_paint(state), state);
	fputc('\n', p->file);
}

/* "ci_job=17, team=core" */
static char *show_labels(const json_t *labels)
{
	struct buf text = { 0 };
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)labels, name, value) {
		buf_separate(&text, ", ");
		buf_addf(&text, "%s=%s", name, json_string_value(value));
	}
	return buf_take(&text, NULL);
}

static void show_add_dismissed(struct table *t, const json_t *dismissed)
{
	for (size_t i = 0; i < json_array_size(dismissed); i++) {
		const json_t *one = json_array_get(dismissed, i);

		table_fact(t, "dismissed", PAINT_NONE, xasprintf("%s by %s: %.*s", field_text(one, "finding"),
		    field_text(one, "by"), (int)strcspn(field_text(one, "reason"), "\r\n"),
		    field_text(one, "reason")));
	}
}

/* "ID by AGENT, dropped: the reason" */
static void show_add_disputed(struct table *t, const json_t *disputed)
{
	for (size_t i = 0; i < json_array_size(disputed); i++) {
		const json_t *one = json_array_get(disputed, i);
		const char *answer = field_text(one, "answer");

		table_fact(t, "disputed", PAINT_NONE, xasprintf("%s by %s%s%s: %s", field_text(one, "finding"),
		    field_text(one, "by"), *answer != '\0' ? ", " : "", answer, field_text(one, "reason")));
	}
}

static void show_add_texts(struct table *t, const char *name, const json_t *texts)
{
	for (size_t i = 0; i < json_array_size(texts); i++)
		table_fact(t, name, PAINT_YELLOW, xstrdup(json_string_value(json_array_get(texts, i))));
}

/* Open holds, and how to decide them. */
static void show_add_holds(struct table *t, const json_t *run)
{
	const json_t *holds = field_array(run, "holds");
	long long id = field_count(run, "id");

	for (size_t i = 0; i < json_array_size(holds); i++) {
		const json_t *hold = json_array_get(holds, i);

		table_fact(t, "hold", PAINT_YELLOW,
		    xasprintf("%lld: %s, %s", field_count(hold, "id"), field_text(hold, "task"),
		        field_text(hold, "reason")));
		table_fact(t, "next", PAINT_NONE, xasprintf("rlctl hold show %lld", field_count(hold, "id")));
	}
	if (json_array_size(holds) == 0 && field_is(run, "state", "held"))
		table_fact(t, "next", PAINT_NONE, xasprintf("rlctl retry %lld, or rlctl cancel %lld", id, id));
}

/* Work whose review gave no evidence may be as good as any: it can be judged once more. */
static void show_add_again(struct table *t, const json_t *run)
{
	const json_t *tasks = field_array(run, "tasks");
	long long id = field_count(run, "id");

	for (size_t i = 0; i < json_array_size(tasks) && field_is(run, "state", "failed"); i++) {
		if (field_end_kind(json_array_get(tasks, i)) != END_VIOLATION)
			continue;
		table_fact(t, "next", PAINT_NONE, xasprintf("rlctl review again %lld, or rlctl retry %lld", id, id));
		return;
	}
}

/* Task source, number of tasks, and the run it waits for. */
static void show_add_work(struct table *t, const json_t *run)
{
	const json_t *task = json_array_get(field_array(run, "tasks"), 0);
	const char *source = field_text(run, "source"), *path = field_text(run, "source_path"),
	           *project = field_text(run, "project");
	int64_t iterations = field_int(run, "iterations"), after = field_int(run, "after");
	bool prompt = strcmp(source, "prompt") == 0;

	if (prompt)
		table_fact(t, "task", PAINT_NONE,
		    xstrdup(*field_text(run, "title") != '\0' ? field_text(run, "title")
		                                              : field_text(task, "title")));
	else
		table_fact(t, "source", PAINT_NONE,
		    xasprintf("%s%s%s%s%s", source, *path != '\0' ? " " : "", path,
		        *project != '\0' ? ": " : "", project));
	if (!tasks_are_many(run))
		table_fact(t, "tasks", PAINT_NONE, tasks_count(run));
	table_member(t, "workdir", PAINT_NONE, run, "workdir");
	table_fact(t, "base", PAINT_NONE, xasprintf("%.12s", field_text(run, "base_commit")));
	table_member(t, "group", PAINT_NONE, run, "group");
	table_fact(t, "labels", PAINT_NONE, show_labels(json_object_get(run, "labels")));
	if (after != FIELD_NONE)
		table_fact(t, "after", PAINT_NONE, xasprintf("run %lld", (long long)after));
	if (!prompt && field_int(run, "iteration") > 0 && iterations != FIELD_NONE)
		table_fact(t, "iteration", PAINT_NONE,
		    xasprintf(
		        "%lld of %lld", field_count(run, "iteration"), (long long)iterations));
	else if (!prompt && field_int(run, "iteration") > 0)
		table_fact(t, "iteration", PAINT_NONE, cell_number(run, "iteration"));
}

/* "4 green, 2 red, 1 flaky, 1 not run again"; "": none has run. */
static char *show_checks(const json_t *checks)
{
	static const char *const results[] = { "green", "red", "flaky" };
	struct buf text = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		if (field_count(checks, results[i]) > 0)
			buf_addf(&text, "%s%lld %s", text.size > 0 ? ", " : "",
			    field_count(checks, results[i]), results[i]);
	if (field_count(checks, "reused") > 0)
		buf_addf(&text, "%s%lld not run again", text.size > 0 ? ", " : "", field_count(checks, "reused"));
	return text.size > 0 ? buf_take(&text, NULL) : xstrdup("");
}

/* elsewhere: on another machine, whose users have other names. */
static void show_run_facts(const struct print *p, const json_t *run, bool elsewhere)
{
	struct table *t = table_facts();
	const json_t *totals = json_object_get(run, "totals"), *review = json_object_get(run, "review");
	bool many = tasks_are_many(run);

	if (many)
		tasks_add_overview(t, run, totals);
	show_add_work(t, run);
	table_fact(t, "owner", PAINT_NONE, elsewhere ? xasprintf("uid %lld", field_count(run, "owner")) :
	    cell_other_user(run, "owner"));
	table_fact(t, "agents", PAINT_NONE, settings_agents(json_object_get(run, "agents"), review));
	table_fact(t, "review", PAINT_NONE, settings_review(review));
	table_fact(t, "checks", PAINT_NONE, show_checks(json_object_get(run, "checks")));
	if (!many) {
		table_fact(t, "reason", PAINT_YELLOW, cell_reason(run, NULL));
		table_member(t, "cause", PAINT_NONE, run, "cause");
	}
	table_fact(t, "created", PAINT_NONE, cell_when(run, "created_at"));
	table_fact(t, "started", PAINT_NONE, cell_when(run, "started_at"));
	table_fact(t, "ended", PAINT_NONE, cell_when(run, "ended_at"));
	table_fact(t, "retry of", PAINT_NONE, cell_number(run, "retry_of"));
	if (!many)
		tasks_add_totals(t, totals);
	table_fact(t, "budget", PAINT_NONE, budget_line(json_object_get(run, "budget")));
	table_fact(t, "disk", PAINT_NONE, cell_size(run, "disk_bytes"));
	if (json_is_null(json_object_get(run, "pruned_at")))
		table_fact(t, "kept", PAINT_NONE, cell_size(run, "bytes"));
	table_fact(t, "pruned", PAINT_YELLOW, cell_when(run, "pruned_at"));
	tasks_add_result(t, run);
	show_add_texts(t, "known issue", field_array(run, "known_issues"));
	show_add_dismissed(t, field_array(run, "dismissed"));
	show_add_disputed(t, field_array(run, "disputed"));
	show_add_texts(t, "warning", field_array(run, "warnings"));
	if (!many)
		show_add_holds(t, run);
	show_add_again(t, run);
	table_print_facts(t, p);
}

/* The next attempt of a cooling slot has not started. */
static void show_print_attempts(const struct print *p, const json_t *run, const json_t *attempts)
{
	const json_t *slots = field_array(run, "slots");

	for (size_t i = 0; i < json_array_size(slots); i++) {
		const json_t *slot = json_array_get(slots, i),
		             *next = field_find(attempts, "id", field_int(slot, "attempt"));

		if (field_is(slot, "phase", "cooling") && next != NULL)
			json_object_set_new((json_t *)next, "state", json_string("waiting"));
	}
	tasks_name(run, attempts);
	table_print_apart(p, attempt_columns, ARRAY_SIZE(attempt_columns), attempts);
}

/* Its slots, as in rlctl watch; for an ended run the tables tell everything. */
static void show_blocks(struct client *c, json_t *run, json_t *attempts)
{
	struct view view = { .run = run, .attempts = attempts, .now = clock_wall() };
	struct watch_data d;
	struct lines l;

	if (field_time(run, "ended_at") != FIELD_NONE || json_array_size(field_array(run, "slots")) == 0)
		return;
	watch_data_init(&d, c->conn);
	d.document = json_incref(run);
	watch_data_tick(&d, 0, SIZE_MAX);
	watch_data_uncount(&d);
	view.previews = d.previews;
	lines_init(&l, c->out.width, c->out.color);
	screen_slots(&l, &view);
	fputc('\n', c->out.file);
	lines_print(&l, c->out.file);
	lines_release(&l);
	watch_data_release(&d);
}

static int show_run(struct client *c, int64_t id)
{
	json_t *run, *attempts = NULL, *reviews = NULL;
	int status;

	run = client_get_json(c, "run.get", "id", id, &status);
	if (run == NULL || c->json)
		goto out;
	attempts = client_list_of_run(c, "attempt.list", "attempts", id, &status);
	if (attempts == NULL)
		goto out;
	reviews = client_list_of_run(c, "review.list", "reviews", id, &status);
	if (reviews == NULL)
		goto out;
	fprintf(c->out.file, "Run %lld  ", field_count(run, "id"));
	show_state(&c->out, run);
	show_run_facts(&c->out, run, c->options.elsewhere);
	tasks_print(&c->out, run);
	show_blocks(c, run, json_object_get(attempts, "attempts"));
	table_print_apart(&c->out, slot_columns, ARRAY_SIZE(slot_columns), field_array(run, "slots"));
	show_print_attempts(&c->out, run, field_array(attempts, "attempts"));
	review_print_table(&c->out, field_array(reviews, "reviews"));
out:
	json_decref(run);
	json_decref(attempts);
	json_decref(reviews);
	return status;
}

static void show_attempt_facts(const struct print *p, const json_t *attempt, const json_t *attempts)
{
	struct table *t = table_facts();
	char *resumed = cell_resumed(attempt, attempts, "id");

	table_fact(t, "id", PAINT_NONE, cell_number(attempt, "id"));
	table_member(t, "role", PAINT_NONE, attempt, "role");
	table_member(t, "agent", PAINT_NONE, attempt, "agent");
	table_member(t, "model", PAINT_NONE, attempt, "model");
	table_member(t, "account", PAINT_NONE, attempt, "account");
	table_member(t, "launcher", PAINT_NONE, attempt, "launcher");
	table_member(t, "node", PAINT_NONE, attempt, "node");
	table_member(t, "task", PAINT_NONE, attempt, "task");
	if (*resumed != '\0')
		table_fact(t, "continues", PAINT_NONE, xasprintf("attempt %s", resumed));
	table_fact(t, "exit", PAINT_NONE, cell_exit(attempt, NULL));
	table_member(t, "process", PAINT_NONE, attempt, "process");
	table_member(t, "sandbox", PAINT_NONE, attempt, "sandbox");
	table_member(t, "provider", PAINT_NONE, attempt, "provider");
	table_member(t, "outcome", PAINT_NONE, attempt, "outcome");
	table_member(t, "fault", PAINT_RED, attempt, "fault");
	table_member(t, "cause", PAINT_NONE, attempt, "cause");
	table_fact(t, "started", PAINT_NONE, cell_when(attempt, "started_at"));
	table_fact(t, "took", PAINT_NONE, cell_took(attempt, NULL));
	table_fact(t, "output", PAINT_NONE, cell_size(attempt, "bytes"));
	table_fact(t, "tokens", PAINT_NONE, cell_tokens(attempt, NULL));
	table_fact(t, "cost", PAINT_NONE, cell_cost(attempt, "cost_usd"));
	table_fact(t, "denied", PAINT_YELLOW, cell_some(attempt, "denials"));
	table_fact(t, "tool errors", PAINT_NONE, cell_some(attempt, "tool_errors"));
	table_print_facts(t, p);
	free(resumed);
}

/* Attempts are numbered within their run. */
static int show_attempt(struct client *c, int64_t run, int64_t wanted)
{
	int status;
	json_t *result = client_list_of_run(c, "attempt.list", "attempts", run, &status);
	const json_t *attempts = field_array(result, "attempts"), *attempt = field_find(attempts, "number", wanted);

	if (attempt != NULL && c->json) {
		json_decref(client_get_json(c, "attempt.get", "id", field_int(attempt, "id"), &status));
	} else if (attempt != NULL) {
		fprintf(c->out.file, "Attempt %lld/%lld  ", (long long)run, (long long)wanted);
		show_state(&c->out, attempt);
		show_attempt_facts(&c->out, attempt, attempts);
	} else if (status == 0) {
		message_error("run %lld has no attempt %lld; \"rlctl show %lld\" lists them",
		    (long long)run, (long long)wanted, (long long)run);
		status = EXIT_REFUSED;
	}
	json_decref(result);
	return status;
}

int show_command(struct client *c)
{
	int64_t run, attempt;
	int status = client_parse_run(c->options.arguments[0], &run, &attempt);

	if (status != 0)
		return status;
	return attempt == FIELD_NONE ? show_run(c, run) : show_attempt(c, run, attempt);
}
