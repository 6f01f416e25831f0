/* SPDX-License-Identifier: MIT */
/* rlctl show: all about one run, or one attempt of it. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/memory.h"
#include "client/review.h"
#include "client/table.h"
#include "proto/units.h"

static const struct table_column facts[] = { { "", 0 }, { "", TABLE_FLEXIBLE } };

static const struct table_column attempt_columns[] = {
	{ "ATTEMPT", 0 },
	{ "ROLE", 0 },
	{ "AGENT", 0 },
	{ "STATE", 0 },
	{ "EXIT", TABLE_RIGHT },
	{ "OUTCOME", 0 },
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
	{ "WHY", TABLE_FLEXIBLE },
};

/* A line "name  value", unless there is nothing to say. value is freed. */
static void fact(struct table *t, const char *name, enum paint paint, char *value)
{
	if (*value != '\0') {
		table_add(t, PAINT_DIM, name);
		table_add(t, paint, value);
	}
	free(value);
}

static char *number(const json_t *object, const char *key)
{
	int64_t n = field_int(object, key);

	return n == FIELD_NONE ? mem_strdup("") : mem_printf("%lld", (long long)n);
}

static char *when(const json_t *object, const char *key)
{
	int64_t time = field_time(object, key);
	char *clock = print_clock(time), *age = print_age(time);
	char *text = time == FIELD_NONE ? mem_strdup("") : mem_printf("%s (%s ago)", clock, age);

	free(clock);
	free(age);
	return text;
}

/* Tokens are one number, or numbers by kind. */
static char *tokens(const json_t *object)
{
	const json_t *value = json_object_get(object, "tokens");
	int64_t sum = 0;
	void *kind;

	if (json_is_integer(value))
		return print_count(json_integer_value(value));
	for (kind = json_object_iter((json_t *)value); kind != NULL; kind = json_object_iter_next((json_t *)value, kind))
		sum += json_integer_value(json_object_iter_value(kind));
	return sum == 0 ? mem_strdup("") : print_count(sum);
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
	struct bytes text = { .data = NULL };

	for (void *i = json_object_iter((json_t *)agents); i != NULL; i = json_object_iter_next((json_t *)agents, i)) {
		const json_t *agent = json_object_iter_value(i);
		const char *model = field_text(agent, "model");
		char *one = mem_printf("%s%s %s%s%s%s", text.size > 0 ? ", " : "", json_object_iter_key(i), field_text(agent, "agent"),
			*model != '\0' ? " (" : "", model, *model != '\0' ? ")" : "");

		bytes_add(&text, one, strlen(one));
		free(one);
	}
	return text.data != NULL ? text.data : mem_strdup("");
}

/* "verdict, at most 6 reviews", or why there is none. */
static char *review_text(const json_t *review)
{
	if (review == NULL)
		return mem_strdup("");
	if (!field_true(review, "enabled"))
		return mem_printf("none: %s", field_text(review, "skip_reason"));
	return mem_printf("%s, at most %lld reviews", field_text(review, "profile"), (long long)field_int(review, "max_fixes") + 1);
}

static void print_run_facts(const struct print *p, const json_t *run)
{
	struct table *t = table_new(facts, 2);
	const json_t *task = json_array_get(field_array(run, "tasks"), 0), *totals = json_object_get(run, "totals");
	const json_t *warnings = field_array(run, "warnings");
	long long id = (long long)field_int(run, "id");

	fact(t, "task", PAINT_NONE, mem_strdup(*field_text(run, "title") != '\0' ? field_text(run, "title") : field_text(task, "title")));
	fact(t, "workdir", PAINT_NONE, mem_strdup(field_text(run, "workdir")));
	fact(t, "agents", PAINT_NONE, agents_text(json_object_get(run, "agents")));
	fact(t, "review", PAINT_NONE, review_text(json_object_get(run, "review")));
	fact(t, "reason", PAINT_YELLOW, mem_strdup(field_text(run, "reason")));
	fact(t, "cause", PAINT_NONE, mem_strdup(field_text(run, "cause")));
	fact(t, "created", PAINT_NONE, when(run, "created_at"));
	fact(t, "started", PAINT_NONE, when(run, "started_at"));
	fact(t, "ended", PAINT_NONE, when(run, "ended_at"));
	fact(t, "retry of", PAINT_NONE, number(run, "retry_of"));
	fact(t, "took", PAINT_NONE, print_duration(field_int(totals, "wall_ms")));
	fact(t, "tokens", PAINT_NONE, tokens(totals));
	fact(t, "cost", PAINT_NONE, print_cost(field_real(totals, "cost_usd")));
	fact(t, "result", PAINT_BOLD, mem_strdup(field_text(run, "result_ref")));
	for (size_t i = 0; i < json_array_size(warnings); i++)
		fact(t, "warning", PAINT_YELLOW, mem_strdup(json_string_value(json_array_get(warnings, i))));
	if (strcmp(field_text(run, "state"), "held") == 0)
		fact(t, "next", PAINT_NONE, mem_printf("rlctl retry %lld, or rlctl cancel %lld", id, id));
	table_print(t, p, true);
	table_free(t);
}

static void print_slots(const struct print *p, const json_t *slots)
{
	struct table *t = table_new(slot_columns, sizeof slot_columns / sizeof slot_columns[0]);

	for (size_t i = 0; i < json_array_size(slots); i++) {
		const json_t *slot = json_array_get(slots, i);
		const char *cause = field_text(slot, "cause");

		table_take(t, PAINT_NONE, number(slot, "slot"));
		table_add(t, print_state_paint(field_text(slot, "phase")), field_text(slot, "phase"));
		table_add(t, PAINT_NONE, field_text(slot, "task"));
		table_take(t, PAINT_NONE, number(slot, "round"));
		table_take(t, PAINT_NONE, number(slot, "fix"));
		table_add(t, PAINT_NONE, *cause != '\0' ? cause : field_text(slot, "reason"));
	}
	if (json_array_size(slots) > 0)
		fputc('\n', p->file);
	table_print(t, p, false);
	table_free(t);
}

static char *took(const json_t *attempt)
{
	int64_t started = field_time(attempt, "started_at"), ended = field_time(attempt, "ended_at");

	if (started == FIELD_NONE)
		return mem_strdup("");
	return ended == FIELD_NONE ? print_age(started) : print_duration(ended - started);
}

/* "0", "3", "signal 9" */
static char *exit_text(const json_t *attempt)
{
	char *text = number(attempt, "signal"), *signal;

	if (*text == '\0') {
		free(text);
		return number(attempt, "exit_code");
	}
	signal = mem_printf("signal %s", text);
	free(text);
	return signal;
}

static void add_attempt(struct table *t, const json_t *attempt)
{
	const char *state = field_text(attempt, "state"), *outcome = field_text(attempt, "outcome");

	table_take(t, PAINT_NONE, mem_printf("%lld/%lld", (long long)field_int(attempt, "run"), (long long)field_int(attempt, "number")));
	table_add(t, PAINT_NONE, field_text(attempt, "role"));
	table_add(t, PAINT_NONE, field_text(attempt, "agent"));
	table_add(t, print_state_paint(state), state);
	table_take(t, PAINT_NONE, exit_text(attempt));
	table_add(t, PAINT_NONE, strcmp(outcome, "none") == 0 ? "" : outcome);
	table_take(t, PAINT_NONE, took(attempt));
	table_take(t, PAINT_NONE, tokens(attempt));
	table_take(t, PAINT_NONE, print_cost(field_real(attempt, "cost_usd")));
	table_add(t, PAINT_NONE, field_text(attempt, "cause"));
}

static void print_attempts(const struct print *p, const json_t *attempts)
{
	struct table *t = table_new(attempt_columns, sizeof attempt_columns / sizeof attempt_columns[0]);

	for (size_t i = 0; i < json_array_size(attempts); i++)
		add_attempt(t, json_array_get(attempts, i));
	if (json_array_size(attempts) > 0)
		fputc('\n', p->file);
	table_print(t, p, false);
	table_free(t);
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
	print_slots(&c->out, field_array(run, "slots"));
	print_attempts(&c->out, field_array(attempts, "attempts"));
	if (json_array_size(field_array(reviews, "reviews")) > 0)
		fputc('\n', c->out.file);
	review_print_table(&c->out, field_array(reviews, "reviews"));
out:
	json_decref(run);
	json_decref(attempts);
	json_decref(reviews);
	return status;
}

static void print_attempt_facts(const struct print *p, const json_t *attempt)
{
	struct table *t = table_new(facts, 2);
	char size[32] = "";

	if (field_int(attempt, "bytes") != FIELD_NONE)
		size_format(field_int(attempt, "bytes"), size, sizeof size);
	fact(t, "id", PAINT_NONE, number(attempt, "id"));
	fact(t, "role", PAINT_NONE, mem_strdup(field_text(attempt, "role")));
	fact(t, "agent", PAINT_NONE, mem_strdup(field_text(attempt, "agent")));
	fact(t, "model", PAINT_NONE, mem_strdup(field_text(attempt, "model")));
	fact(t, "task", PAINT_NONE, mem_strdup(field_text(attempt, "task")));
	fact(t, "exit", PAINT_NONE, exit_text(attempt));
	fact(t, "process", PAINT_NONE, mem_strdup(field_text(attempt, "process")));
	fact(t, "provider", PAINT_NONE, mem_strdup(field_text(attempt, "provider")));
	fact(t, "outcome", PAINT_NONE, mem_strdup(field_text(attempt, "outcome")));
	fact(t, "cause", PAINT_NONE, mem_strdup(field_text(attempt, "cause")));
	fact(t, "started", PAINT_NONE, when(attempt, "started_at"));
	fact(t, "took", PAINT_NONE, took(attempt));
	fact(t, "output", PAINT_NONE, mem_strdup(size));
	fact(t, "tokens", PAINT_NONE, tokens(attempt));
	fact(t, "cost", PAINT_NONE, print_cost(field_real(attempt, "cost_usd")));
	table_print(t, p, true);
	table_free(t);
}

/* Attempts are asked for by number within their run. */
static int show_attempt(struct client *c, int64_t run, int64_t wanted)
{
	int status;
	json_t *result = client_call(c, "attempt.list", json_pack("{s:I}", "run", (json_int_t)run), &status);
	const json_t *attempts = field_array(result, "attempts"), *attempt = NULL;

	for (size_t i = 0; i < json_array_size(attempts); i++) {
		if (field_int(json_array_get(attempts, i), "number") == wanted)
			attempt = json_array_get(attempts, i);
	}
	if (attempt != NULL && c->json) {
		json_decref(client_call_json(c, "attempt.get", json_pack("{s:I}", "id", (json_int_t)field_int(attempt, "id")), &status));
	} else if (attempt != NULL) {
		print_heading(&c->out, "Attempt", attempt, "number");
		print_attempt_facts(&c->out, attempt);
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
