/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "config/config.h"
#include "model/row_json.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "rpc/context.h"
#include "rpc/user.h"

#define NAME_MAX_BYTES 64
#define REASON_MAX 1000
#define SPAN_MAX_DAYS 366
#define DAY_MS (INT64_C(24) * 3600 * 1000)

static json_t *real(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

/* ---- documents: an object by account ---- */

static json_t *blank(const char *account)
{
	return json_pack("{s:o,s:[],s:b,s:n,s:n,s:n,s:n,s:n,s:n,s:i,s:{s:n,s:i,s:f,s:i,s:i},s:{s:f,"
	    "s:i},s:{s:I,s:n,s:n,s:n}}",
	    "account", json_text(account), "agents", "in_force", 0, "kind", "until", "reason",
	    "attempt", "set_by", "created_at", "waiting", 0,
	    "spent", "day", "attempts", 0, "cost_usd", 0.0, "tokens", 0, "wall_ms", 0,
	    "reserved", "cost_usd", 0.0, "tokens", 0,
	    "limits", "cooldown_max_ms", (json_int_t)ACCOUNT_COOLDOWN_MAX_MS, "budget_day_usd",
	    "budget_day_tokens", "budget_day_wall_ms");
}

static json_t *document_in(json_t *accounts, const char *name)
{
	json_t *document = json_object_get(accounts, name);

	if (document == NULL) {
		document = blank(name);
		json_object_set_new(accounts, name, document);
	}
	return document;
}

/* "agent.claude.account": the account of an agent. */
static void add_agent(void *arg, const char *path, const char *value, const char *from, const char *help)
{
	static const char head[] = "agent.", tail[] = ".account";
	size_t length = strlen(path), around = sizeof(head) - 1 + sizeof(tail) - 1;
	json_t *account;
	char *agent;

	(void)from;
	(void)help;
	if (length <= around || strncmp(path, head, sizeof(head) - 1) != 0 ||
	    strcmp(path + length - sizeof(tail) + 1, tail) != 0)
		return;
	agent = xmemdup0(path + sizeof(head) - 1, length - around);
	account = json_document(value, json_null());
	/* an agent without an account has one of its own name */
	json_array_append_new(json_object_get(document_in(arg, json_is_string(account) ?
	    json_string_value(account) : agent), "agents"), json_text(agent));
	json_decref(account);
	free(agent);
}

static json_t *day_text(int64_t day)
{
	char text[25];

	time_format(day * DAY_MS, text, sizeof(text));
	return json_stringn(text, strlen("2026-11-22"));
}

static void add_info(void *arg, const struct account_info *info)
{
	json_t *document = document_in(arg, info->name), *row;

	if (info->cooldown != NULL) {
		row = json_row(ROW_COOLDOWN, info->cooldown);
		json_object_update_existing(document, row);
		json_object_set_new(document, "in_force", json_true());
		json_decref(row);
	}
	json_object_set_new(document, "waiting", json_integer((json_int_t)info->waiting));
	if (info->spend != NULL)
		json_object_set_new(document, "spent",
		    json_pack("{s:o,s:I,s:f,s:I,s:I}", "day", day_text(info->spend->day),
		    "attempts", (json_int_t)info->spend->attempts, "cost_usd", info->spend->cost_usd,
		    "tokens", (json_int_t)info->spend->tokens, "wall_ms", (json_int_t)info->spend->wall_ms));
	json_object_set_new(document, "reserved", json_pack("{s:f,s:I}", "cost_usd",
	    info->reserved_usd, "tokens", (json_int_t)info->reserved_tokens));
	json_object_set_new(document, "limits",
	    json_pack("{s:I,s:o,s:o,s:o}", "cooldown_max_ms", (json_int_t)info->limits->cooldown_max_ms,
	    "budget_day_usd", real(info->limits->budget_day_usd), "budget_day_tokens",
	    json_int(info->limits->budget_day_tokens),
	    "budget_day_wall_ms", json_int(info->limits->budget_day_wall_ms)));
}

/* All accounts of agents, those in rld.toml, and those with a cooldown or spending. */
static json_t *known_accounts(struct rpc *rpc)
{
	json_t *accounts = json_object();
	struct config_error error;

	config_each(rpc_config(rpc), NULL, NULL, 0, add_agent, accounts, &error);
	engine_accounts(rpc->options.engine, add_info, accounts);
	return accounts;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Its keys in order; free(). */
static const char **names_of(json_t *accounts, size_t *count)
{
	const char **names = xcalloc(json_object_size(accounts) + 1, sizeof(*names)), *name;
	json_t *document;

	*count = 0;
	json_object_foreach(accounts, name, document)
		names[(*count)++] = name;
	qsort(names, *count, sizeof(*names), compare_names);
	return names;
}

static struct reply cooldown_list(struct rpc *rpc, struct call *call)
{
	json_t *accounts = known_accounts(rpc), *array = json_array();
	size_t count;
	const char **names = names_of(accounts, &count);

	for (size_t i = 0; i < count; i++)
		json_array_append(array, json_object_get(accounts, names[i]));
	free(names);
	json_decref(accounts);
	return reply_ok(call, json_pack("{s:o}", "accounts", array));
}

/* ---- cooldowns set by users ---- */

struct saying {
	struct rpc *rpc;
	struct call *call;
	int64_t until;
};

static void said(void *arg, const struct engine_reply *reply)
{
	struct saying *s = arg;
	json_t *accounts;

	if (reply->code != RPC_OK) {
		call_error(s->call, reply->code, reply->field, reply->hint, "%s", reply->message);
	} else {
		accounts = known_accounts(s->rpc);
		call_ok(s->call, json_incref(document_in(accounts, call_text(s->call, "account"))));
		json_decref(accounts);
	}
	free(s);
}

static void say_cb(void *arg, const char *name)
{
	struct saying *s = arg;

	engine_cooldown_set(s->rpc->options.engine, call_text(s->call, "account"), s->until,
	    call_text(s->call, "reason"), name, call_flag(s->call, "check"), said, s);
}

static struct reply say(struct rpc *rpc, struct call *call, int64_t until)
{
	struct saying *s = xcalloc(1, sizeof(*s));

	*s = (struct saying){ rpc, call, until };
	user_name(rpc->options.loop, call_uid(call), say_cb, s);
	return reply_later(call);
}

/* A name that no agent uses is a mistake: the cooldown would have no effect. */
static bool is_known(struct rpc *rpc, struct call *call, struct reply *refusal)
{
	const char *account = call_text(call, "account");
	json_t *accounts = known_accounts(rpc);
	bool known = json_object_get(accounts, account) != NULL;
	size_t count;
	const char **names = names_of(accounts, &count);
	struct buf b = { 0 };

	for (size_t i = 0; i < count; i++)
		buf_addf(&b, "%s%s", i > 0 ? ", " : "", names[i]);
	if (!known)
		*refusal = reply_error(call, RPC_NOT_FOUND, "account",
		    "see `rlctl cooldown list` for the account of each agent; `account` in "
		    "[agent.NAME] of rld.toml sets it",
		    "unknown account '%s'; accounts: %s", account, b.data != NULL ? b.data : "none");
	buf_release(&b);
	free(names);
	json_decref(accounts);
	return known;
}

/* Exactly one of until and for. */
static bool is_time(struct call *call, int64_t *until, struct reply *refusal)
{
	const char *text = call_text(call, "until"), *field = text != NULL ? "until" : "for";
	json_t *span = call_param(call, "for");
	int64_t now = clock_wall(), ms;

	if ((text == NULL) == (span == NULL)) {
		*refusal = reply_error(call, RPC_INVALID_PARAMS, field,
		    "use for=2h, or until=2026-11-22T22:52:00Z", text == NULL ?
		    "missing argument: the end of the cooldown" :
		    "'until' and 'for' are mutually exclusive");
		return false;
	}
	if (text != NULL && time_parse(text, until) == -1) {
		*refusal = reply_error(call, RPC_INVALID_PARAMS, field,
		    "for example 2026-11-22T22:52:00Z, or 2026-11-22T23:52:00+01:00",
		    "'%s' is not an RFC 3339 time", text);
		return false;
	}
	if (span != NULL) {
		if (json_is_integer(span))
			ms = json_integer_value(span) * 1000;
		else
			duration_parse(json_string_value(span), &ms);
		*until = now + ms;
	}
	if (*until <= now) {
		*refusal = reply_error(call, RPC_INVALID_PARAMS, field,
		    "`rlctl cooldown clear` ends a cooldown",
		    text != NULL ? "that time is in the past" : "that time is out of range");
		return false;
	}
	if (*until - now > SPAN_MAX_DAYS * DAY_MS) {
		*refusal = reply_error(call, RPC_INVALID_PARAMS, field,
		    "to stop using the account permanently, let no agent use it",
		    "the time is more than %d days away", SPAN_MAX_DAYS);
		return false;
	}
	return true;
}

static struct reply cooldown_set(struct rpc *rpc, struct call *call)
{
	struct reply refusal;
	int64_t until;

	if (!is_known(rpc, call, &refusal) || !is_time(call, &until, &refusal))
		return refusal;
	return say(rpc, call, until);
}

static struct reply cooldown_clear(struct rpc *rpc, struct call *call)
{
	const char *account = call_text(call, "account");
	struct reply refusal;
	json_t *accounts, *document;

	if (!is_known(rpc, call, &refusal))
		return refusal;
	accounts = known_accounts(rpc);
	document = json_incref(document_in(accounts, account));
	json_decref(accounts);
	if (!json_is_true(json_object_get(document, "in_force")))
		return reply_ok(call, document);	/* it has the wanted value already */
	json_decref(document);
	return say(rpc, call, 0);
}

#define ACCOUNT_PARAM \
	{ "account", SCHEMA_TEXT, .required = true, .min = 1, .max = NAME_MAX_BYTES, \
	    .help = "name of the account, such as anthropic or openai" }
#define CHECK_PARAM { "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" }

static const struct schema set_params[] = {
	ACCOUNT_PARAM,
	{ "until", SCHEMA_TEXT, .min = 1, .max = 40, .help =
	    "end of the cooldown, an RFC 3339 time" },
	{ "for", SCHEMA_DURATION, .max = SPAN_MAX_DAYS * DAY_MS, .help = "length of the cooldown" },
	{ "reason", SCHEMA_TEXT, .max = REASON_MAX, .help =
	    "reason, shown to users whose runs wait" },
	CHECK_PARAM,
	{ 0 },
};
static const struct schema clear_params[] = { ACCOUNT_PARAM, CHECK_PARAM, { 0 } };

static const struct result_field list_results[] = {
	{ "accounts", "[Account]",
	    "by name: the accounts of agents and of rld.toml, and those with a cooldown or spending "
	    "on record" },
	{ 0 },
};
static const struct result_field account_results[] = {
	RESULT_TYPE("Account"),
	{ 0 },
};
static const int say_errors[] = { RPC_NOT_FOUND, RPC_NO_SPACE, 0 };

const struct method cooldown_methods[] = {
	{ "cooldown.list", ACCESS_READ, true, NULL, list_results, NULL, cooldown_list,
	    "list provider accounts with their cooldowns and spending" },
	{ "cooldown.set", ACCESS_ADMIN, false, set_params, account_results, say_errors,
	    cooldown_set, "put an account on cooldown: its agents wait" },
	{ "cooldown.clear", ACCESS_ADMIN, false, clear_params, account_results, say_errors,
	    cooldown_clear, "end the cooldown of an account: its agents continue" },
	{ 0 },
};
