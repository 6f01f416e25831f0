/* SPDX-License-Identifier: MIT */
/* rlctl cooldown: provider accounts and their cooldowns. */
#include "client/cooldown_command.h"

#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/listing.h"
#include "client/message.h"
#include "client/table.h"
#include "proto/memory.h"
#include "proto/units.h"

/* The end of the cooldown, "2026-11-22 22:52:00 (in 2h 10m)"; "" if the account is available. */
static char *cooldown_until(const json_t *account, const char *key)
{
	return field_true(account, "in_force") ? cell_until(account, key) : xstrdup("");
}

/* "limit: You've hit your session limit", "ann: going to bed". The caller frees. */
static char *cooldown_why(const json_t *account, const char *key)
{
	static const char human[] = "human:";
	const char *kind = field_text(account, "kind"), *by = field_text(account, "set_by"),
	           *reason = field_text(account, "reason");

	(void)key;
	if (!field_true(account, "in_force"))
		return xstrdup("");
	if (strncmp(by, human, sizeof(human) - 1) == 0)
		return xasprintf("set by %s%s%s", by + sizeof(human) - 1, *reason != '\0' ? ": " : "", reason);
	return xasprintf("%s%s%s", kind, *reason != '\0' ? ": " : "", reason);
}

static void cooldown_add(struct buf *line, char *text)
{
	if (*text != '\0') {
		buf_separate(line, ", ");
		buf_adds(line, text);
	}
	free(text);
}

/* Use and limit: "$1.20 of $20.00", "12.3k of 1.0M tokens". The caller frees. */
static char *cooldown_part(char *spent, char *limit, const char *unit)
{
	char *text = *limit != '\0' ? xasprintf("%s of %s%s", *spent != '\0' ? spent : "0", limit, unit) :
		xasprintf("%s%s", spent, *spent != '\0' ? unit : "");

	free(spent);
	free(limit);
	return text;
}

/* The caller frees. */
static char *cooldown_spent(const json_t *account, const char *key)
{
	const json_t *spent = json_object_get(account, key), *limits = json_object_get(account, "limits");
	int64_t tokens = field_int(spent, "tokens"), most_ms = field_int(limits, "budget_day_wall_ms");
	struct buf line = { 0 };

	cooldown_add(&line, cooldown_part(cell_cost(spent, "cost_usd"), cell_cost(limits, "budget_day_usd"), ""));
	cooldown_add(&line,
	    cooldown_part(tokens > 0 ? print_count(tokens) : xstrdup(""),
	        print_count(field_int(limits, "budget_day_tokens")), " tokens"));
	/* show the running time only if it is limited */
	cooldown_add(&line,
	    most_ms == FIELD_NONE
	        ? xstrdup("")
	        : cooldown_part(cell_duration(spent, "wall_ms"), print_duration(most_ms), ""));
	return buf_take(&line, NULL);
}

static char *cooldown_state(const json_t *account, const char *key)
{
	return xstrdup(field_true(account, key) ? "exhausted" : "available");
}

static enum paint cooldown_paint(const char *state)
{
	return strcmp(state, "exhausted") == 0 ? PAINT_YELLOW : PAINT_NONE;
}

static const struct table_column columns[] = {
	{ "ACCOUNT", 0, cell_text, .key = "account" },
	{ "STATE", 0, cooldown_state, "in_force", .paint_of = cooldown_paint },
	{ "UNTIL", 0, cooldown_until, .key = "until" },
	{ "WAITING", TABLE_RIGHT, cell_some, .key = "waiting" },
	{ "SPENT TODAY", TABLE_FLEXIBLE, cooldown_spent, .key = "spent" },
	{ "AGENTS", TABLE_FLEXIBLE, cell_texts, .key = "agents", .paint = PAINT_DIM },
	{ "WHY", TABLE_FLEXIBLE, cooldown_why, .key = NULL },
};

static const struct listing accounts = { "cooldown.list", "accounts", columns, ARRAY_SIZE(columns), NULL, NULL, NULL };

static int cooldown_list(struct client *c)
{
	return listing_run(c, &accounts, NULL);
}

char *cooldown_text(const json_t *account)
{
	char *until = cooldown_until(account, "until"), *because = cooldown_why(account, NULL), *text;

	if (*until == '\0')
		text = xstrdup("available");
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
		sentence = xasprintf("Account %s is available again", field_text(event, "account"));
	free(text);
	return sentence;
}

static int cooldown_change(struct client *c, const char *method, json_t *params)
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
			fprintf(c->talk.file, "; %lld slot%s for it", (long long)waiting,
			    waiting == 1 ? " waits" : "s wait");
		fputs(".\n", c->talk.file);
		free(text);
	}
	json_decref(account);
	return status;
}

static int cooldown_clear(struct client *c)
{
	if (options_given(&c->options, "message")) {
		message_error("clear takes no message");
		return EXIT_USAGE;
	}
	return cooldown_change(c, "cooldown.clear", json_object());
}

/* A duration or a time. */
static int cooldown_set(struct client *c)
{
	const char *when = c->options.count > 2 ? c->options.arguments[2] : NULL,
	           *reason = options_text(&c->options, "message");
	json_t *params = json_object();
	int64_t ms;

	if (when == NULL) {
		message_error("missing time; try \"rlctl cooldown set %s 2h\", or a time such as "
		    "2026-11-22T22:52:00Z",
		    c->options.arguments[1]);
		json_decref(params);
		return EXIT_USAGE;
	}
	if (duration_parse(when, &ms) == 0) {
		json_object_set_new(params, "for", json_string(when));
	} else if (time_parse(when, &ms) == 0) {
		json_object_set_new(params, "until", json_string(when));
	} else {
		message_error("%s is neither a duration (90s, 15m, 2h, 1d) nor a time (2026-11-22T22:52:00Z, "
		    "2026-11-22T23:52:00+01:00)", when);
		json_decref(params);
		return EXIT_USAGE;
	}
	if (reason != NULL && json_object_set_new(params, "reason", json_string(reason)) == -1) {
		message_error("the message is not UTF-8; convert it, for example with iconv(1)");
		json_decref(params);
		return EXIT_REFUSED;
	}
	return cooldown_change(c, "cooldown.set", params);
}

static const struct client_action actions[] = {
	{ "list", 1, 1, cooldown_list }, { "set", 2, 3, cooldown_set }, { "clear", 2, 2, cooldown_clear },
};

int cooldown_command(struct client *c)
{
	return client_act(c, actions, ARRAY_SIZE(actions));
}
