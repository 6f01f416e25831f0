/* SPDX-License-Identifier: MIT */
/* rlctl show: all about one run, or one attempt of it. */
#include "client/show.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/budget.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/review.h"
#include "client/screen.h"
#include "client/table.h"
#include "client/tasks.h"
#include "client/watch_data.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "proto/units.h"

static const struct table_column attempt_columns[] = {
	{ "ATTEMPT", 0 },
	{ "ROLE", 0 },
	{ "AGENT", 0 },
	{ "STATE", 0 },
	{ "EXIT", TABLE_RIGHT },
	{ "OUTCOME", 0 },
	{ "FAULT", 0 },
	{ "DENIED", TABLE_RIGHT },
	{ "TOOL ERRORS", TABLE_RIGHT },
	{ "TOOK", TABLE_RIGHT },
	{ "TOKENS", TABLE_RIGHT },
	{ "COST", TABLE_RIGHT },
	{ "WHY", TABLE_FLEXIBLE },
};

static const struct table_column slot_columns[] = {
	{ "SLOT", TABLE_RIGHT },
	{ "PHASE", 0 },
	{ "TASK", 0 },
	{ "ROUND", TABLE_RIGHT },
	{ "FIXES", TABLE_RIGHT },
	{ "BRANCH", TABLE_FLEXIBLE },
	{ "WORK TREE", TABLE_FLEXIBLE },
	{ "WHY", TABLE_FLEXIBLE },
};

char *show_number(const json_t *object, const char *key)
{
	int64_t n = field_int(object, key);

	return n == FIELD_NONE ? xstrdup("") : xasprintf("%lld", (long long)n);
}

char *show_when(const json_t *object, const char *key)
{
	int64_t time = field_time(object, key);
	char *clock = print_clock(time), *age = print_age(time);
	char *text = time == FIELD_NONE ? xstrdup("") : xasprintf("%s (%s ago)", clock, age);

	free(clock);
	free(age);
	return text;
}

char *show_reason(const json_t *run)
{
	const char *reason = field_text(run, "reason");
	int64_t time = field_time(run, "next_at"), left = time == FIELD_NONE ? 0 : time - clock_wall();
	char *clock, *until, *text;

	if (time == FIELD_NONE)
		return xstrdup(reason);
	clock = print_clock(time);
	until = print_duration(left < 0 ? 0 : left);
	text = xasprintf("%s%snext try at %s (in %s)", reason, *reason != '\0' ? "; " : "", clock, until);
	free(clock);
	free(until);
	return text;
}

char *show_tokens(const json_t *object)
{
	const json_t *value = json_object_get(object, "tokens");
	int64_t sum = 0;
	void *kind;

	if (json_is_integer(value))
		return print_count(json_integer_value(value));
	for (kind = json_object_iter((json_t *)value); kind != NULL; kind = json_object_iter_next((json_t *)value, kind))
		sum += json_integer_value(json_object_iter_value(kind));
	return sum == 0 ? xstrdup("") : print_count(sum);
}

static void print_heading(const struct print *p, const char *what, const json_t *object, const char *key)
{
	const char *state = field_text(object, "state");

	fprintf(p->file, "%s %lld", what, (long long)field_int(object, key));
	fputs("  ", p->file);
	print_painted(p, print_state_paint(state), state);
	fputc('\n', p->file);
}

/* "implement claude, review codex (gpt-5), fix claude" */
static char *agents_text(const json_t *agents)
{
	struct buf text = { 0 };

	for (void *i = json_object_iter((json_t *)agents); i != NULL; i = json_object_iter_next((json_t *)agents, i)) {
		const json_t *agent = json_object_iter_value(i);
		const char *model = field_text(agent, "model");
		buf_addf(&text, "%s%s %s%s%s%s", text.size > 0 ? ", " : "", json_object_iter_key(i), field_text(agent, "agent"),
			*model != '\0' ? " (" : "", model, *model != '\0' ? ")" : "");
	}
	return buf_take(&text, NULL);
}

/* "verdict, at most 6 reviews", or why there is none. */
static char *review_text(const json_t *review)
{
	int64_t checks = field_int(review, "checks");
	char *behind, *text;

	if (review == NULL)
		return xstrdup("");
	if (!field_true(review, "enabled"))
		return xasprintf("none: %s", field_text(review, "skip_reason"));
	behind = checks > 0 ? xasprintf(", %lld check%s before each", (long long)checks, checks == 1 ? "" : "s") : xstrdup("");
	text = xasprintf("%s, at most %lld reviews%s%s", field_text(review, "profile"), (long long)field_int(review, "max_fixes") + 1,
		strcmp(field_text(review, "scope"), "run") == 0 ? " of the whole run" : "", behind);
	free(behind);
	return text;
}

static void add_texts(struct table *t, const char *name, const json_t *texts)
{
	for (size_t i = 0; i < json_array_size(texts); i++)
		table_fact(t, name, PAINT_YELLOW, xstrdup(json_string_value(json_array_get(texts, i))));
}

/* What waits for a human, and the way on. */
static void add_holds(struct table *t, const json_t *run)
{
	const json_t *holds = field_array(run, "holds");
	long long id = (long long)field_int(run, "id");

	for (size_t i = 0; i < json_array_size(holds); i++) {
		const json_t *hold = json_array_get(holds, i);

		table_fact(t, "hold", PAINT_YELLOW, xasprintf("%lld: %s, %s", (long long)field_int(hold, "id"), field_text(hold, "task"),
			field_text(hold, "reason")));
		table_fact(t, "next", PAINT_NONE, xasprintf("rlctl hold show %lld", (long long)field_int(hold, "id")));
	}
	if (json_array_size(holds) == 0 && strcmp(field_text(run, "state"), "held") == 0)
		table_fact(t, "next", PAINT_NONE, xasprintf("rlctl retry %lld, or rlctl cancel %lld", id, id));
}

/* Where its tasks come from, how many there are, and whom it waits for. */
static void add_work(struct table *t, const json_t *run)
{
	const json_t *task = json_array_get(field_array(run, "tasks"), 0);
	const char *source = field_text(run, "source"), *path = field_text(run, "source_path"), *project = field_text(run, "project");
	int64_t iterations = field_int(run, "iterations"), after = field_int(run, "after");
	bool prompt = strcmp(source, "prompt") == 0;

	if (prompt)
		table_fact(t, "task", PAINT_NONE, xstrdup(*field_text(run, "title") != '\0' ? field_text(run, "title") : field_text(task, "title")));
	else
		table_fact(t, "source", PAINT_NONE, xasprintf("%s%s%s%s%s", source, *path != '\0' ? " " : "", path, *project != '\0' ? ": " : "", project));
	table_fact(t, "tasks", PAINT_NONE, tasks_count(run));
	table_fact(t, "workdir", PAINT_NONE, xstrdup(field_text(run, "workdir")));
	table_fact(t, "base", PAINT_NONE, xasprintf("%.12s", field_text(run, "base_commit")));
	table_fact(t, "group", PAINT_NONE, xstrdup(field_text(run, "group")));
	if (after != FIELD_NONE)
		table_fact(t, "after", PAINT_NONE, xasprintf("run %lld", (long long)after));
	if (!prompt && field_int(run, "iteration") > 0 && iterations != FIELD_NONE)
		table_fact(t, "iteration", PAINT_NONE, xasprintf("%lld of %lld", (long long)field_int(run, "iteration"), (long long)iterations));
	else if (!prompt && field_int(run, "iteration") > 0)
		table_fact(t, "iteration", PAINT_NONE, show_number(run, "iteration"));
}

static void print_run_facts(const struct print *p, const json_t *run)
{
	struct table *t = table_facts();
	const json_t *totals = json_object_get(run, "totals");
	char disk[32] = "";

	if (field_int(run, "disk_bytes") != FIELD_NONE)
		size_format(field_int(run, "disk_bytes"), disk, sizeof(disk));
	add_work(t, run);
	table_fact(t, "agents", PAINT_NONE, agents_text(json_object_get(run, "agents")));
	table_fact(t, "review", PAINT_NONE, review_text(json_object_get(run, "review")));
	table_fact(t, "reason", PAINT_YELLOW, show_reason(run));
	table_fact(t, "cause", PAINT_NONE, xstrdup(field_text(run, "cause")));
	table_fact(t, "created", PAINT_NONE, show_when(run, "created_at"));
	table_fact(t, "started", PAINT_NONE, show_when(run, "started_at"));
	table_fact(t, "ended", PAINT_NONE, show_when(run, "ended_at"));
	table_fact(t, "retry of", PAINT_NONE, show_number(run, "retry_of"));
	table_fact(t, "took", PAINT_NONE, print_duration(field_int(totals, "wall_ms")));
	table_fact(t, "tokens", PAINT_NONE, show_tokens(totals));
	table_fact(t, "cost", PAINT_NONE, print_cost(field_real(totals, "cost_usd")));
	table_fact(t, "budget", PAINT_NONE, budget_line(json_object_get(run, "budget")));
	table_fact(t, "disk", PAINT_NONE, xstrdup(disk));
	tasks_add_result(t, run);
	add_texts(t, "known issue", field_array(run, "known_issues"));
	add_texts(t, "warning", field_array(run, "warnings"));
	add_holds(t, run);
	table_print(t, p, true);
	table_free(t);
}

static void print_slots(const struct print *p, const json_t *slots)
{
	struct table *t = table_new(slot_columns, ARRAY_SIZE(slot_columns));

	for (size_t i = 0; i < json_array_size(slots); i++) {
		const json_t *slot = json_array_get(slots, i);
		const char *cause = field_text(slot, "cause");

		table_take(t, PAINT_NONE, show_number(slot, "slot"));
		table_add(t, print_state_paint(field_text(slot, "phase")), field_text(slot, "phase"));
		table_add(t, PAINT_NONE, field_text(slot, "task"));
		table_take(t, PAINT_NONE, show_number(slot, "round"));
		table_take(t, PAINT_NONE, show_number(slot, "fix"));
		table_add(t, PAINT_NONE, field_text(slot, "branch"));
		table_add(t, PAINT_DIM, field_text(slot, "worktree"));
		table_add(t, PAINT_NONE, *cause != '\0' ? cause : field_text(slot, "reason"));
	}
	if (json_array_size(slots) > 0)
		fputc('\n', p->file);
	table_print(t, p, false);
	table_free(t);
}

char *show_took(const json_t *attempt)
{
	int64_t started = field_time(attempt, "started_at"), ended = field_time(attempt, "ended_at");

	if (started == FIELD_NONE)
		return xstrdup("");
	return ended == FIELD_NONE ? print_age(started) : print_duration(ended - started);
}

char *show_exit(const json_t *attempt)
{
	char *text = show_number(attempt, "signal"), *signal;

	if (*text == '\0') {
		free(text);
		return show_number(attempt, "exit_code");
	}
	signal = xasprintf("signal %s", text);
	free(text);
	return signal;
}

/* The attempt is the next of a slot that waits for its service. */
static bool is_waiting(const json_t *run, const json_t *attempt)
{
	const json_t *slots = field_array(run, "slots");

	for (size_t i = 0; i < json_array_size(slots); i++) {
		const json_t *slot = json_array_get(slots, i);

		if (strcmp(field_text(slot, "phase"), "cooling") == 0 && field_int(slot, "attempt") == field_int(attempt, "id"))
			return true;
	}
	return false;
}

char *show_fault(const json_t *attempt)
{
	const char *fault = field_text(attempt, "fault"), *what = field_text(attempt, strcmp(fault, "task") == 0 ? "outcome" : fault);

	/* how it exited stands beside it */
	if (*fault == '\0' || strcmp(what, "exited") == 0)
		return xstrdup(fault);
	return xasprintf("%s: %s", fault, what);
}

char *show_some(const json_t *object, const char *key)
{
	return field_int(object, key) > 0 ? show_number(object, key) : xstrdup("");
}

static void add_attempt(struct table *t, const json_t *run, const json_t *attempt)
{
	const char *state = is_waiting(run, attempt) ? "waiting" : field_text(attempt, "state"), *outcome = field_text(attempt, "outcome");

	table_take(t, PAINT_NONE, xasprintf("%lld/%lld", (long long)field_int(attempt, "run"), (long long)field_int(attempt, "number")));
	table_add(t, PAINT_NONE, field_text(attempt, "role"));
	table_add(t, PAINT_NONE, field_text(attempt, "agent"));
	table_add(t, print_state_paint(state), state);
	table_take(t, PAINT_NONE, show_exit(attempt));
	table_add(t, PAINT_NONE, outcome);
	table_take(t, PAINT_RED, show_fault(attempt));
	table_take(t, PAINT_NONE, show_some(attempt, "denials"));
	table_take(t, PAINT_NONE, show_some(attempt, "tool_errors"));
	table_take(t, PAINT_NONE, show_took(attempt));
	table_take(t, PAINT_NONE, show_tokens(attempt));
	table_take(t, PAINT_NONE, print_cost(field_real(attempt, "cost_usd")));
	table_add(t, PAINT_NONE, field_text(attempt, "cause"));
}

static void print_attempts(const struct print *p, const json_t *run, const json_t *attempts)
{
	struct table *t = table_new(attempt_columns, ARRAY_SIZE(attempt_columns));

	for (size_t i = 0; i < json_array_size(attempts); i++)
		add_attempt(t, run, json_array_get(attempts, i));
	if (json_array_size(attempts) > 0)
		fputc('\n', p->file);
	table_print(t, p, false);
	table_free(t);
}

/* What its slots are at, as rlctl watch shows it; of one that is over the tables tell all. */
static void print_blocks(struct client *c, json_t *run, json_t *attempts)
{
	struct screen_run s = { .run = run, .attempts = attempts, .now = clock_wall() };
	struct watch_data d;
	struct lines l;

	if (field_time(run, "ended_at") != FIELD_NONE || json_array_size(field_array(run, "slots")) == 0)
		return;
	watch_data_init(&d, c->conn);
	d.document = json_incref(run);
	watch_data_tick(&d, 0, SIZE_MAX);
	watch_data_uncount(&d);
	s.previews = d.previews;
	lines_init(&l, c->out.width, c->out.color);
	screen_slots(&l, &s);
	fputc('\n', c->out.file);
	for (size_t i = 0; i < l.count; i++)
		fprintf(c->out.file, "%s\n", l.line[i]);
	lines_release(&l);
	watch_data_release(&d);
}

static int show_run(struct client *c, int64_t id)
{
	json_t *run, *attempts = NULL, *reviews = NULL;
	int status;

	run = client_call_json(c, "run.get", json_pack("{s:I}", "id", (json_int_t)id), &status);
	if (run == NULL || c->json)
		goto out;
	attempts = client_call(c, "attempt.list", json_pack("{s:I}", "run", (json_int_t)id), &status);
	if (attempts == NULL)
		goto out;
	reviews = client_call(c, "review.list", json_pack("{s:I}", "run", (json_int_t)id), &status);
	if (reviews == NULL)
		goto out;
	print_heading(&c->out, "Run", run, "id");
	print_run_facts(&c->out, run);
	tasks_print(&c->out, run);
	print_blocks(c, run, json_object_get(attempts, "attempts"));
	print_slots(&c->out, field_array(run, "slots"));
	print_attempts(&c->out, run, field_array(attempts, "attempts"));
	if (json_array_size(field_array(reviews, "reviews")) > 0)
		fputc('\n', c->out.file);
	review_print_table(&c->out, field_array(reviews, "reviews"));
out:
	json_decref(run);
	json_decref(attempts);
	json_decref(reviews);
	return status;
}

char *show_resumed(const json_t *attempt, const json_t *attempts, const char *key)
{
	int64_t wanted = field_int(attempt, "resumes");

	for (size_t i = 0; wanted != FIELD_NONE && i < json_array_size(attempts); i++)
		if (field_int(json_array_get(attempts, i), key) == wanted)
			return show_number(json_array_get(attempts, i), "number");
	return xstrdup("");
}

static void print_attempt_facts(const struct print *p, const json_t *attempt, const json_t *attempts)
{
	struct table *t = table_facts();
	char size[32] = "", *resumed = show_resumed(attempt, attempts, "id");

	if (field_int(attempt, "bytes") != FIELD_NONE)
		size_format(field_int(attempt, "bytes"), size, sizeof(size));
	table_fact(t, "id", PAINT_NONE, show_number(attempt, "id"));
	table_fact(t, "role", PAINT_NONE, xstrdup(field_text(attempt, "role")));
	table_fact(t, "agent", PAINT_NONE, xstrdup(field_text(attempt, "agent")));
	table_fact(t, "model", PAINT_NONE, xstrdup(field_text(attempt, "model")));
	table_fact(t, "account", PAINT_NONE, xstrdup(field_text(attempt, "account")));
	table_fact(t, "task", PAINT_NONE, xstrdup(field_text(attempt, "task")));
	if (*resumed != '\0')
		table_fact(t, "goes on with", PAINT_NONE, xasprintf("attempt %s", resumed));
	table_fact(t, "exit", PAINT_NONE, show_exit(attempt));
	table_fact(t, "process", PAINT_NONE, xstrdup(field_text(attempt, "process")));
	table_fact(t, "sandbox", PAINT_NONE, xstrdup(field_text(attempt, "sandbox")));
	table_fact(t, "provider", PAINT_NONE, xstrdup(field_text(attempt, "provider")));
	table_fact(t, "outcome", PAINT_NONE, xstrdup(field_text(attempt, "outcome")));
	table_fact(t, "fault", PAINT_RED, xstrdup(field_text(attempt, "fault")));
	table_fact(t, "cause", PAINT_NONE, xstrdup(field_text(attempt, "cause")));
	table_fact(t, "started", PAINT_NONE, show_when(attempt, "started_at"));
	table_fact(t, "took", PAINT_NONE, show_took(attempt));
	table_fact(t, "output", PAINT_NONE, xstrdup(size));
	table_fact(t, "tokens", PAINT_NONE, show_tokens(attempt));
	table_fact(t, "cost", PAINT_NONE, print_cost(field_real(attempt, "cost_usd")));
	table_fact(t, "denied", PAINT_YELLOW, show_some(attempt, "denials"));
	table_fact(t, "tool errors", PAINT_NONE, show_some(attempt, "tool_errors"));
	table_print(t, p, true);
	table_free(t);
	free(resumed);
}

/* Attempts are asked for by number within their run. */
static int show_attempt(struct client *c, int64_t run, int64_t wanted)
{
	int status;
	json_t *result = client_call(c, "attempt.list", json_pack("{s:I}", "run", (json_int_t)run), &status);
	const json_t *attempts = field_array(result, "attempts"), *attempt = NULL;

	for (size_t i = 0; i < json_array_size(attempts); i++)
		if (field_int(json_array_get(attempts, i), "number") == wanted)
			attempt = json_array_get(attempts, i);
	if (attempt != NULL && c->json) {
		json_decref(client_call_json(c, "attempt.get", json_pack("{s:I}", "id", (json_int_t)field_int(attempt, "id")), &status));
	} else if (attempt != NULL) {
		print_heading(&c->out, "Attempt", attempt, "number");
		print_attempt_facts(&c->out, attempt, attempts);
	} else if (status == 0) {
		warnx("run %lld has no attempt %lld; \"rlctl show %lld\" lists them", (long long)run, (long long)wanted, (long long)run);
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
