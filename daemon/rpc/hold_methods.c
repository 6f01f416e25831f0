/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "job/run_report.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/page.h"
#include "rpc/run_load.h"
#include "rpc/user.h"

#define LIST_LIMIT 20
#define LIST_MAX 50		/* each with its reviews */
#define MESSAGE_MAX (256 * 1024)
#define HISTORY (LOAD_TASKS | LOAD_REVIEWS | LOAD_FINDINGS | LOAD_HOLDS)

static json_t *document_of(const struct run_rows *rows, int64_t id)
{
	for (size_t i = 0; rows != NULL && i < rows->nholds; i++) {
		if (rows->holds[i]->id == id)
			return hold_document(rows, rows->holds[i]);
	}
	return NULL;
}

static void no_such_hold(struct call *call)
{
	call_error(call, RPC_NOT_FOUND, "id", "see `rlctl hold list`",
	    "no such hold: %lld",
	    (long long)call_int(call, "id", 0));
}

/* ---- one hold, wherever its run is ---- */

struct find {
	struct rpc *rpc;
	struct call *call;
	/* json: new reference */
	void (*found)(struct call *call, json_t *json);
};

static void find_rows_cb(void *arg, const struct run_rows *rows)
{
	struct find *find = arg;
	json_t *json = document_of(rows, call_int(find->call, "id", 0));

	if (json != NULL)
		find->found(find->call, json);
	else
		no_such_hold(find->call);
	free(find);
}

static void find_hold_cb(void *arg, struct rowset *set)
{
	struct find *find = arg;

	if (set->count > 0) {
		load_run(find->rpc, ((const struct hold_row *)set->rows[0])->run, HISTORY, find_rows_cb, find);
	} else {
		no_such_hold(find->call);
		free(find);
	}
	rowset_release(set);
}

static void find_hold(struct rpc *rpc, struct call *call, void (*found)(struct call *call, json_t *json))
{
	int64_t id = call_int(call, "id", 0);
	const struct query_bind binds[] = { { ":id", id, NULL }, { NULL, 0, NULL } };
	const struct run_rows *rows = view_run_of_hold(engine_view(rpc->options.engine), id);
	struct find *find = xcalloc(1, sizeof(*find));

	*find = (struct find){ rpc, call, found };
	if (rows != NULL)
		find_rows_cb(find, rows);
	else
		rpc_read(rpc, "hold.get", ROW_HOLD, binds, find_hold_cb, find);
}

static void get_found(struct call *call, json_t *json)
{
	call_ok(call, json);
}

static struct reply hold_get(struct rpc *rpc, struct call *call)
{
	find_hold(rpc, call, get_found);
	return reply_later(call);
}

/* ---- a page of holds, each with its history ---- */

struct listing {
	struct call *call;
	json_t *holds, *next;
	size_t missing;		/* holds whose reviews are not read yet */
};

struct entry {
	struct listing *listing;
	json_t *place;		/* of listing->holds */
	int64_t id;
};

static void listing_end(struct listing *listing)
{
	call_ok(listing->call, json_pack("{s:o,s:o}", "holds", listing->holds, "next", listing->next));
	free(listing);
}

static void entry_cb(void *arg, const struct run_rows *rows)
{
	struct entry *entry = arg;
	struct listing *listing = entry->listing;
	json_t *json = document_of(rows, entry->id);

	if (json != NULL)
		json_object_update(entry->place, json);
	json_decref(json);
	free(entry);
	if (--listing->missing == 0)
		listing_end(listing);
}

struct pending {
	struct rpc *rpc;
	struct call *call;
};

static void list_cb(void *arg, struct rowset *set)
{
	struct pending *p = arg;
	struct listing *listing = xcalloc(1, sizeof(*listing));
	int64_t limit = call_int(p->call, "limit", LIST_LIMIT);

	listing->call = p->call;
	listing->holds = json_array();
	listing->next = json_null();
	listing->missing = set->count + 1;
	for (size_t i = 0; i < set->count; i++) {
		const struct hold_row *hold = set->rows[i];
		struct entry *entry = xcalloc(1, sizeof(*entry));

		*entry = (struct entry){ listing, json_object(), hold->id };
		json_array_append_new(listing->holds, entry->place);
		if ((int64_t)i + 1 == limit)
			listing->next = json_integer(hold->id);
		load_run(p->rpc, hold->run, HISTORY, entry_cb, entry);
	}
	if (--listing->missing == 0)
		listing_end(listing);
	rowset_release(set);
	free(p);
}

static void list_holds(struct rpc *rpc, struct call *call)
{
	const struct query_bind binds[] = {
		{ ":run", call_int(call, "run", ROW_NONE), NULL },
		{ ":state", ROW_NONE, call_text(call, "state") },
		{ ":before", call_int(call, "cursor", ROW_NONE), NULL },
		{ ":limit", call_int(call, "limit", LIST_LIMIT), NULL },
		{ NULL, 0, NULL },
	};
	struct pending *p = xcalloc(1, sizeof(*p));

	*p = (struct pending){ rpc, call };
	rpc_read(rpc, "hold.list", ROW_HOLD, binds, list_cb, p);
}

static struct reply hold_list(struct rpc *rpc, struct call *call)
{
	call_of_run(rpc, call, list_holds);
	return reply_later(call);
}

/* ---- decisions ---- */

struct deciding {
	struct rpc *rpc;
	struct call *call;
	enum hold_decision decision;
};

static void decided_before(struct call *call, json_t *json)
{
	call_error(call, RPC_WRONG_STATE, "id", "see `rlctl hold list --state open`",
	    "hold %lld needs no decision: it is %s",
	    (long long)call_int(call, "id", 0), json_string_value(json_object_get(json, "state")));
	json_decref(json);
}

static void decide_reply(void *arg, const struct engine_reply *reply)
{
	struct deciding *d = arg;
	int64_t id = call_int(d->call, "id", 0);
	const struct run_rows *rows = reply->rows;
	json_t *json;

	if (reply->code == RPC_NOT_FOUND) {
		/* its run has ended */
		find_hold(d->rpc, d->call, decided_before);
	} else if (reply->code != RPC_OK) {
		call_refused(d->call, reply, "id");
	} else {
		if (rows == NULL)
			rows = view_run_of_hold(engine_view(d->rpc->options.engine), id);
		json = document_of(rows, id);
		if (json != NULL)
			call_ok(d->call, json);
		else
			no_such_hold(d->call);
	}
	free(d);
}

static void decide_cb(void *arg, const char *name)
{
	struct deciding *d = arg;

	const struct caller *caller = link_caller(call_link(d->call));
	const struct decider by = { .name = name, .uid = (int64_t)caller->peer.uid, .pid = (int64_t)caller->peer.pid,
	    .attempt = caller->is_agent ? caller->agent.attempt : ROW_NONE };

	engine_hold(d->rpc->options.engine, call_int(d->call, "id", 0), d->decision, &by,
	    call_text(d->call, "message"), call_flag(d->call, "check"), decide_reply, d);
}

static struct reply decide(struct rpc *rpc, struct call *call, enum hold_decision decision)
{
	struct deciding *d = xcalloc(1, sizeof(*d));

	*d = (struct deciding){ rpc, call, decision };
	user_name(rpc->options.loop, call_uid(call), decide_cb, d);
	return reply_later(call);
}

static struct reply hold_approve(struct rpc *rpc, struct call *call)
{
	return decide(rpc, call, HOLD_APPROVE);
}

static struct reply hold_reject(struct rpc *rpc, struct call *call)
{
	return decide(rpc, call, HOLD_REJECT);
}

static struct reply hold_rework(struct rpc *rpc, struct call *call)
{
	return decide(rpc, call, HOLD_REWORK);
}

static struct reply hold_answer(struct rpc *rpc, struct call *call)
{
	return decide(rpc, call, HOLD_ANSWER);
}

#define ID_PARAM { "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "of the hold" }

static const struct schema list_params[] = {
	{ "run", SCHEMA_INT, .min = 1, .max = INT64_MAX, .help = "only holds of this run" },
	{ "state", SCHEMA_TEXT, .max = 32, .choices = &hold_state_names, .help = "only holds in this state" },
	PAGE_PARAMS(LIST_MAX, "holds per page; default 20"),
	{ 0 },
};
static const struct schema get_params[] = { ID_PARAM, { 0 } };
static const struct schema decide_params[] = {
	ID_PARAM,
	{ "message", SCHEMA_TEXT, .max = MESSAGE_MAX, .help = "reason; for rework: instructions" },
	{ "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" },
	{ 0 },
};
static const struct schema answer_params[] = {
	ID_PARAM,
	{ "message", SCHEMA_TEXT, .required = true, .min = 1, .max = MESSAGE_MAX, .help = "the answer" },
	{ "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" },
	{ 0 },
};

static const struct result_field list_results[] = {
	{ "holds", "[Hold]", "newest first" },
	PAGE_NEXT,
	{ 0 },
};
static const struct result_field hold_results[] = {
	RESULT_TYPE("Hold"),
	{ 0 },
};
static const int errors[] = { RPC_NOT_FOUND, 0 };
static const int answer_errors[] = { RPC_NOT_FOUND, RPC_INVALID_PARAMS, RPC_WRONG_STATE, RPC_NO_SPACE, 0 };
static const int decide_errors[] = { RPC_NOT_FOUND, RPC_WRONG_STATE, RPC_NO_SPACE, 0 };

const struct method hold_methods[] = {
	{ "hold.list", ACCESS_READ, true, list_params, list_results, errors, hold_list,
	    "list holds in pages" },
	{ "hold.get", ACCESS_READ, true, get_params, hold_results, errors, hold_get,
	    "return a hold with the reviews that led to it" },
	{ "hold.approve", ACCESS_OWNER, true, decide_params, hold_results, decide_errors,
	    hold_approve, "accept the work as it is" },
	{ "hold.reject", ACCESS_OWNER, true, decide_params, hold_results, decide_errors,
	    hold_reject, "fail the task" },
	{ "hold.rework", ACCESS_OWNER, true, decide_params, hold_results, decide_errors,
	    hold_rework, "fix the work and review it again" },
	{ "hold.answer", ACCESS_OWNER, true, answer_params, hold_results, answer_errors,
	    hold_answer, "answer what an agent asks; it continues with that" },
	{ 0 },
};
