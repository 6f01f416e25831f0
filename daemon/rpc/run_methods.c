/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "core/profile.h"
#include "model/row_json.h"
#include "job/secrets.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "rpc/context.h"
#include "rpc/document.h"
#include "rpc/ended_cache.h"
#include "rpc/environment.h"
#include "rpc/overview_load.h"
#include "rpc/page.h"
#include "rpc/run_answer.h"
#include "rpc/run_load.h"
#include "task/task_op.h"

#define LIST_LIMIT 50
#define LIST_MAX 200
#define DOCUMENT (LOAD_TASKS | LOAD_SLOTS | LOAD_ATTEMPTS | LOAD_HOLDS | LOAD_ITERATIONS | \
    LOAD_EVIDENCE | LOAD_PRUNED)

static void get_cb(void *arg, const struct run_rows *rows)
{
	struct pending *p = arg;
	json_t *json;

	if (rows == NULL) {
		call_no_run(p->call, "id", call_int(p->call, "id", 0));
	} else {
		json = run_answer(p->rpc, rows);
		if (view_run(engine_view(p->rpc->options.engine), rows->run.id) == NULL &&
		    rows->ntasks + rows->niterations <= ENDED_ROWS)
			ended_cache_keep(p->rpc->ended, rows->run.id, json);
		call_ok(p->call, json);
	}
	free(p);
}

static struct reply run_get(struct rpc *rpc, struct call *call)
{
	int64_t id = call_int(call, "id", 0);
	json_t *kept = ended_cache_find(rpc->ended, id);

	if (kept != NULL)
		return reply_ok(call, json_incref(kept));
	load_run(rpc, id, DOCUMENT, get_cb, pending_new(rpc, call));
	return reply_later(call);
}

/* A page of runs, whose overviews are looked up. */
struct listing {
	struct call *call;
	json_t *next;
};

static void listing_cb(void *arg, json_t *runs)
{
	struct listing *listing = arg;

	call_ok(listing->call, json_pack("{s:o,s:o}", "runs", runs, "next", listing->next));
	free(listing);
}

static void list_cb(void *arg, struct rowset *set)
{
	struct pending *p = arg;
	struct listing *listing = xcalloc(1, sizeof(*listing));
	int64_t limit = call_int(p->call, "limit", LIST_LIMIT);

	listing->call = p->call;
	listing->next = json_null();
	if (set->count > 0 && (int64_t)set->count == limit)
		listing->next = json_integer(((const struct run_row *)set->rows[limit - 1])->id);
	overview_load(p->rpc, set, listing_cb, listing);
	free(p);
}

static struct reply run_list(struct rpc *rpc, struct call *call)
{
	const json_t *labels = call_param(call, "labels");
	const char *since = call_text(call, "since");
	int64_t from = ROW_NONE;
	char *wanted;

	if (since != NULL && time_parse(since, &from) == -1)
		return reply_error(call, RPC_INVALID_PARAMS, "since",
		    "for example 2026-11-22T22:52:00Z, or 2026-11-22T23:52:00+01:00",
		    "'%s' is not an RFC 3339 time", since);
	wanted = labels != NULL ? json_dumps(labels, JSON_COMPACT) : NULL;
	rpc_read(rpc, "run.list", ROW_RUN, (const struct query_bind[]){
		{ ":state", ROW_NONE, call_text(call, "state") },
		{ ":owner", call_int(call, "owner", ROW_NONE), NULL },
		{ ":before", call_int(call, "cursor", ROW_NONE), NULL },
		{ ":limit", call_int(call, "limit", LIST_LIMIT), NULL },
		{ ":workdir", ROW_NONE, call_text(call, "workdir") },
		{ ":group", ROW_NONE, call_text(call, "group") },
		{ ":text", ROW_NONE, call_text(call, "text") },
		{ ":labels", ROW_NONE, wanted },
		{ ":since", from, NULL },
		{ ":source", ROW_NONE, call_text(call, "source") },
		{ NULL, 0, NULL },
	}, list_cb, pending_new(rpc, call));
	free(wanted);
	return reply_later(call);
}

static void cancel_ended_cb(void *arg, const struct run_rows *rows)
{
	struct call *call = arg;

	if (rows != NULL && rows->run.state == RUN_S_CANCELLED)
		call_ok(call, run_document(rows, NULL, clock_wall()));
	else
		call_ended(call, "id", rows, "there is nothing to cancel");
}

/* The run may have ended before the answer: then look it up among the ended runs. */
static void cancel_reply(void *arg, const struct engine_reply *reply)
{
	struct pending *p = arg;

	if (reply->code != RPC_NOT_FOUND) {
		run_answer_cb(arg, reply);
		return;
	}
	load_run(p->rpc, reply->id, DOCUMENT, cancel_ended_cb, p->call);
	free(p);
}

/* A change of an unfinished run by the engine. */
typedef void change_fn(struct engine *engine, int64_t run, const char *by, bool check, engine_reply_cb *cb, void *arg);

static struct reply change(struct rpc *rpc, struct call *call, change_fn *apply, engine_reply_cb *cb, load_cb *ended)
{
	int64_t id = call_int(call, "id", 0);
	char *by;

	if (view_run(engine_view(rpc->options.engine), id) == NULL) {
		load_run(rpc, id, DOCUMENT, ended, call);
		return reply_later(call);
	}
	by = xasprintf("uid %u", (unsigned)call_uid(call));
	apply(rpc->options.engine, id, by, call_flag(call, "check"), cb, pending_new(rpc, call));
	free(by);
	return reply_later(call);
}

static struct reply cancel(struct rpc *rpc, struct call *call)
{
	return change(rpc, call, engine_cancel, cancel_reply, cancel_ended_cb);
}

static void pause_ended_cb(void *arg, const struct run_rows *rows)
{
	call_ended_retry(arg, "id", rows,
	    "only unfinished runs can be paused and resumed; `rlctl retry` starts a new one");
}

static void pause_reply(void *arg, const struct engine_reply *reply)
{
	struct pending *p = arg;

	if (reply->code != RPC_NOT_FOUND) {
		run_answer_cb(arg, reply);
		return;
	}
	load_run(p->rpc, reply->id, DOCUMENT, pause_ended_cb, p->call);
	free(p);
}

static struct reply pause_run(struct rpc *rpc, struct call *call)
{
	return change(rpc, call, engine_pause, pause_reply, pause_ended_cb);
}

static struct reply run_resume(struct rpc *rpc, struct call *call)
{
	return change(rpc, call, engine_unpause, pause_reply, pause_ended_cb);
}

#define ID_PARAM { "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "of the run" }
#define CHECK_PARAM { "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" }

static const struct schema get_params[] = { ID_PARAM, { 0 } };
static const struct schema list_params[] = {
	{ "state", SCHEMA_TEXT, .max = 32, .choices = &run_state_names, .help = "only runs in this state" },
	{ "owner", SCHEMA_INT, .max = UINT_MAX, .help = "only runs of this uid" },
	PAGE_PARAMS(LIST_MAX, "runs per page; default 50"),
	{ "workdir", SCHEMA_TEXT, .min = 1, .max = PATH_MAX,
	    .help = "only runs in this directory or below it; an absolute path, as the runs have it" },
	{ "group", SCHEMA_TEXT, .min = 1, .max = 64, .help = "only runs of this group" },
	{ "text", SCHEMA_TEXT, .min = 1, .max = 256,
	    .help = "only runs with a task whose title contains this; case is ignored in ASCII" },
	{ "labels", SCHEMA_MAP, .max = 32, .bytes = 256, .help = "only runs with all of these labels" },
	{ "since", SCHEMA_TEXT, .min = 1, .max = 40, .help = "only runs submitted at this RFC 3339 time or later" },
	{ "source", SCHEMA_TEXT, .max = 16, .choices = &source_names,
	    .help = "only runs whose tasks come from this source" },
	{ 0 },
};
static const struct schema change_params[] = { ID_PARAM, CHECK_PARAM, { 0 } };
static const struct result_field run_results[] = {
	RESULT_TYPE("Run"),
	{ 0 },
};
static const struct result_field list_results[] = {
	{ "runs", "[RunSummary]", "newest first" },
	PAGE_NEXT,
	{ 0 },
};

static const int get_errors[] = { RPC_NOT_FOUND, 0 };
static const int change_errors[] = { RPC_NOT_FOUND, RPC_WRONG_STATE, RPC_NO_SPACE, 0 };
const struct method run_methods[] = {
	{ "run.get", ACCESS_READ, true, get_params, run_results, get_errors, run_get,
	    "return a run in detail" },
	{ "run.list", ACCESS_READ, true, list_params, list_results, NULL, run_list,
	    "list runs in pages, newest first" },
	{ "run.cancel", ACCESS_OWNER, false, change_params, run_results, change_errors, cancel,
	    "cancel a run and end its processes" },
	{ "run.pause", ACCESS_OWNER, false, change_params, run_results, change_errors, pause_run,
	    "finish running attempts, start no new ones" },
	{ "run.resume", ACCESS_OWNER, false, change_params, run_results, change_errors, run_resume,
	    "undo run.pause" },
	{ 0 },
};
