/* SPDX-License-Identifier: MIT */
/* rlctl cooldown: the accounts that agents pay by, and until when one is exhausted. */
#include "client/cooldown.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/table.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "proto/units.h"

static const struct table_column columns[] = {
	{ "ACCOUNT", 0 },
	{ "STATE", 0 },
	{ "UNTIL", 0 },
	{ "WAITING", TABLE_RIGHT },
	{ "SPENT TODAY", TABLE_FLEXIBLE },
	{ "AGENTS", TABLE_FLEXIBLE },
	{ "WHY", TABLE_FLEXIBLE },
};

/* "until 2026-11-22 22:52:00 (in 2h 10m)"; "" when it serves. The caller frees. */
static char *until_text(const json_t *account)
{
	int64_t until = field_time(account, "until"), left = until - clock_wall();
	char *clock, *in, *text;

	if (until == FIELD_NONE || !field_true(account, "in_force"))
		return xstrdup("");
	clock = print_clock(until);
	in = print_duration(left < 0 ? 0 : left);
	text = xasprintf("%s (in %s)", clock, in);
	free(clock);
	free(in);
	return text;
}

/* "limit: You've hit your session limit", "ann: going to bed". The caller frees. */
static char *why(const json_t *account)
{
	static const char human[] = "human:";
	const char *kind = field_text(account, "kind"), *by = field_text(account, "set_by"), *reason = field_text(account, "reason");

	if (!field_true(account, "in_force"))
		return xstrdup("");
	if (strncmp(by, human, sizeof(human) - 1) == 0)
		return xasprintf("%s says so%s%s", by + sizeof(human) - 1, *reason != '\0' ? ": " : "", reason);
	return xasprintf("%s%s%s", kind, *reason != '\0' ? ": " : "", reason);
}

static void add(struct buf *line, char *text)
{
	if (*text != '\0') {
		buf_add(line, line->size > 0 ? ", " : "", line->size > 0 ? strlen(", ") : 0);
		buf_adds(line, text);
	}
	free(text);
}

/* What of it, and how much there may be: "$1.20 of $20.00", "12.3k of 1.0M tokens". The caller frees. */
static char *part(char *spent, char *limit, const char *unit)
{
	char *text = *limit != '\0' ? xasprintf("%s of %s%s", *spent != '\0' ? spent : "0", limit, unit) :
		xasprintf("%s%s", spent, *spent != '\0' ? unit : "");

	free(spent);
	free(limit);
	return text;
}

/* The caller frees. */
static char *spent_text(const json_t *account)
{
	const json_t *spent = json_object_get(account, "spent"), *limits = json_object_get(account, "limits");
	int64_t tokens = field_int(spent, "tokens"), most_ms = field_int(limits, "budget_day_wall_ms");
	struct buf line = { 0 };

	add(&line, part(print_cost(field_real(spent, "cost_usd")), print_cost(field_real(limits, "budget_day_usd")), ""));
	add(&line, part(tokens > 0 ? print_count(tokens) : xstrdup(""), print_count(field_int(limits, "budget_day_tokens")), " tokens"));
	/* how long agents ran is of interest where it is limited */
	add(&line, most_ms == FIELD_NONE ? xstrdup("") : part(print_duration(field_int(spent, "wall_ms")), print_duration(most_ms), ""));
	return buf_take(&line, NULL);
}

/* The caller frees. */
static char *agents_text(const json_t *account)
{
	const json_t *agents = field_array(account, "agents");
	struct buf line = { 0 };

	for (size_t i = 0; i < json_array_size(agents); i++)
		add(&line, xstrdup(json_string_value(json_array_get(agents, i))));
	return buf_take(&line, NULL);
}

static void add_account(struct table *t, const json_t *account)
{
	bool cools = field_true(account, "in_force");
	int64_t waiting = field_int(account, "waiting");

	table_add(t, PAINT_NONE, field_text(account, "account"));
	table_add(t, cools ? PAINT_YELLOW : PAINT_NONE, cools ? "exhausted" : "serves");
	table_take(t, PAINT_NONE, until_text(account));
	table_take(t, PAINT_NONE, waiting > 0 ? xasprintf("%lld", (long long)waiting) : xstrdup(""));
	table_take(t, PAINT_NONE, spent_text(account));
	table_take(t, PAINT_DIM, agents_text(account));
	table_take(t, PAINT_NONE, why(account));
}

static int list(struct client *c)
{
	const json_t *accounts;
	struct table *t;
	json_t *result;
	int status;

	result = client_call_json(c, "cooldown.list", NULL, &status);
	if (result == NULL || c->json)
		goto out;
	accounts = field_array(result, "accounts");
	t = table_new(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < json_array_size(accounts); i++)
		add_account(t, json_array_get(accounts, i));
	table_print(t, &c->out, false);
	table_free(t);
out:
	json_decref(result);
	return status;
}

char *cooldown_text(const json_t *account)
{
	char *until = until_text(account), *because = why(account), *text;

	if (*until == '\0')
		text = xstrdup("serves");
	else
		text = xasprintf("exhausted until %s%s%s", until, *because != '\0' ? ": " : "", because);
	free(until);
	free(because);
	return text;
}

char *cooldown_sentence(const json_t *event)
{
	char *text = cooldown_text(event), *sentence;

	if (field_true(event, "in_force"))
		sentence = xasprintf("Account %s is %s", field_text(event, "account"), text);
	else
		sentence = xasprintf("Account %s serves again", field_text(event, "account"));
	free(text);
	return sentence;
}

static int change(struct client *c, const char *method, json_t *params)
{
	int64_t waiting;
	json_t *account;
	char *text;
	int status;

	json_object_set_new(params, "account", json_string(c->options.arguments[1]));
	account = client_call_json(c, method, params, &status);
	if (account != NULL && !c->json) {
		text = cooldown_text(account);
		waiting = field_int(account, "waiting");
		fputs("Account ", c->talk.file);
		print_painted(&c->talk, PAINT_BOLD, field_text(account, "account"));
		fputs(": ", c->talk.file);
		print_painted(&c->talk, PAINT_NONE, text);
		if (waiting > 0 && field_true(account, "in_force"))
			fprintf(c->talk.file, "; %lld slot%s for it", (long long)waiting, waiting == 1 ? " waits" : "s wait");
		fputs(".\n", c->talk.file);
		free(text);
	}
	json_decref(account);
	return status;
}

static int clear(struct client *c)
{
	if (options_given(&c->options, "message")) {
		warnx("clear takes no message");
		return EXIT_USAGE;
	}
	return change(c, "cooldown.clear", json_object());
}

/* For how long, or until when. */
static int set(struct client *c)
{
	const char *when = c->options.count > 2 ? c->options.arguments[2] : NULL, *reason = options_text(&c->options, "message");
	json_t *params = json_object();
	int64_t ms;

	if (when == NULL) {
		warnx("until when? Say it with \"rlctl cooldown set %s 2h\", or with a time such as 2026-11-22T22:52:00Z", c->options.arguments[1]);
		json_decref(params);
		return EXIT_USAGE;
	}
	if (duration_parse(when, &ms) == 0) {
		json_object_set_new(params, "for", json_string(when));
	} else if (time_parse(when, &ms) == 0) {
		json_object_set_new(params, "until", json_string(when));
	} else {
		warnx("%s is neither a duration such as 90s, 15m, 2h or 1d nor a time such as 2026-11-22T22:52:00Z or 2026-11-22T23:52:00+01:00", when);
		json_decref(params);
		return EXIT_USAGE;
	}
	if (reason != NULL && json_object_set_new(params, "reason", json_string(reason)) == -1) {
		warnx("the message is not UTF-8; convert it, for example with iconv(1)");
		json_decref(params);
		return EXIT_REFUSED;
	}
	return change(c, "cooldown.set", params);
}

static const struct {
	const char *name;
	int least, most;	/* arguments, with the name */
	int (*run)(struct client *c);
} actions[] = { { "list", 1, 1, list }, { "set", 2, 3, set }, { "clear", 2, 2, clear } };

int cooldown_command(struct client *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (strcmp(actions[i].name, c->options.arguments[0]) == 0 && c->options.count >= actions[i].least &&
		    c->options.count <= actions[i].most)
			return actions[i].run(c);
	}
	warnx("usage: rlctl cooldown %s", c->command->usage);
	return EXIT_USAGE;
}
