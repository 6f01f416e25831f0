/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/event_types.h"
#include "rpc/run_load.h"

#define LIST_LIMIT 100
#define FOLLOWS_OF_LINK 16
#define NAME_MAX_BYTES 64

/* resolve "now" here: events may have come while the run was looked up */
static void event_follow(struct rpc *rpc, struct call *call)
{
	int64_t last = feed_last(rpc->feed), since = call_int(call, "since", last);
	char **types = NULL;
	json_t *type;
	size_t i;

	json_array_foreach(call_param(call, "types"), i, type)
		strings_append(&types, json_string_value(type));
	if (!link_deaf(call_link(call)))	/* the client may have disconnected */
		feed_follow(rpc->feed, call_link(call), &(struct feed_filter){ call_text(call, "subscription"),
		    since, call_int(call, "run", ROW_NONE), types });
	strings_free(types);
	call_ok(call, json_pack("{s:I}", "seq", (json_int_t)last));
}

static struct reply event_subscribe(struct rpc *rpc, struct call *call)
{
	int64_t last = feed_last(rpc->feed), since = call_int(call, "since", last);

	if (since > last)
		return reply_error(call, RPC_INVALID_PARAMS, "since",
		    "begin at 0, or omit it to get only new events",
		    "the newest event is %lld, %lld does not exist yet", (long long)last,
		    (long long)since);
	if (feed_others(call_link(call), call_text(call, "subscription")) >= FOLLOWS_OF_LINK)
		return reply_error(call, RPC_LIMIT_REACHED, NULL, "end one, or use another connection",
		    "this connection has %d subscriptions already", FOLLOWS_OF_LINK);
	call_of_run(rpc, call, event_follow);
	return reply_later(call);
}

static struct reply event_unsubscribe(struct rpc *rpc, struct call *call)
{
	feed_unfollow(call_link(call), call_text(call, "subscription"));
	return reply_ok(call, json_pack("{s:I}", "seq", (json_int_t)feed_last(rpc->feed)));
}

static void list_cb(void *arg, struct rowset *set)
{
	struct call *call = arg;
	int64_t next = call_int(call, "since", 0);
	json_t *events = json_array();

	for (size_t i = 0; i < set->count; i++) {
		const struct event_row *row = set->rows[i];

		json_array_append_new(events, event_json(row));
		next = row->seq;
	}
	rowset_release(set);
	call_ok(call, json_pack("{s:o,s:I}", "events", events, "next", (json_int_t)next));
}

static struct reply event_list(struct rpc *rpc, struct call *call)
{
	const json_t *types = call_param(call, "types");
	char *wanted = types != NULL ? json_dumps(types, JSON_COMPACT) : NULL;
	const struct query_bind binds[] = {
		{ ":since", call_int(call, "since", 0), NULL },
		{ ":limit", call_int(call, "limit", LIST_LIMIT), NULL },
		{ ":run", call_int(call, "run", ROW_NONE), NULL },
		{ ":types", ROW_NONE, wanted }, { NULL, 0, NULL },
	};

	rpc_read(rpc, "event.list", ROW_EVENT, binds, list_cb, call);
	free(wanted);
	return reply_later(call);
}

static const struct schema subscribe_params[] = {
	{ "since", SCHEMA_INT, .max = INT64_MAX,
	    .help = "number of the last event already seen, 0 for all; default: only new events" },
	{ "run", SCHEMA_INT, .min = 1, .max = INT64_MAX, .help = "only events of this run" },
	{ "types", SCHEMA_TEXTS, .min = 1, .max = 32, .choices = &event_type_names,
	    .help = "only events of these types" },
	{ "subscription", SCHEMA_TEXT, .min = 1, .max = NAME_MAX_BYTES,
	    .help = "name of the subscription, sent with each of its notifications" },
	{ 0 },
};
static const struct schema unsubscribe_params[] = {
	{ "subscription", SCHEMA_TEXT, .min = 1, .max = NAME_MAX_BYTES,
	    .help = "name of the subscription to end; default: all of this connection" },
	{ 0 },
};
static const struct schema list_params[] = {
	{ "since", SCHEMA_INT, .max = INT64_MAX, .help =
	    "number of the last event already seen, 0 for all" },
	{ "limit", SCHEMA_INT, .clamp = true, .min = 1, .max = STORE_PAGE,
	    .help = "events per page; default 100" },
	{ "run", SCHEMA_INT, .min = 1, .max = INT64_MAX, .help = "only events of this run" },
	{ "types", SCHEMA_TEXTS, .min = 1, .max = 32, .choices = &event_type_names,
	    .help = "only events of these types" },
	{ 0 },
};
static const struct result_field seq_results[] = {
	{ "seq", "integer", "number of the newest event" },
	{ 0 },
};
static const struct result_field list_results[] = {
	{ "events", "[object]", "in order: what a notification of each has as params" },
	{ "next", "integer", "value of since for the next page" },
	{ 0 },
};

static const int subscribe_errors[] = { RPC_NOT_FOUND, RPC_LIMIT_REACHED, 0 };

const struct method event_methods[] = {
	{ "event.list", ACCESS_READ, true, list_params, list_results, NULL, event_list,
	    "list events in pages" },
	{ "event.subscribe", ACCESS_READ, false, subscribe_params, seq_results, subscribe_errors, event_subscribe,
	    "subscribe to events, sent as notifications `event`; `gap` {from, to} where events are "
	    "no longer kept; replaces an earlier subscription of the same name" },
	{ "event.unsubscribe", ACCESS_READ, false, unsubscribe_params, seq_results, NULL, event_unsubscribe,
	    "end subscriptions" },
	{ 0 },
};
