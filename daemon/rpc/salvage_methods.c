/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "model/row_json.h"
#include "rpc/context.h"
#include "rpc/page.h"

#define LIST_LIMIT 50
#define LIST_MAX 200

static void list_cb(void *arg, struct rowset *set)
{
	struct call *call = arg;
	int64_t limit = call_int(call, "limit", LIST_LIMIT);
	json_t *list = json_array(), *next = json_null();

	for (size_t i = 0; i < set->count; i++) {
		json_array_append_new(list, json_row(ROW_SALVAGE, set->rows[i]));
		if ((int64_t)i + 1 == limit)
			next = json_integer(((const struct salvage_row *)set->rows[i])->id);
	}
	rowset_release(set);
	call_ok(call, json_pack("{s:o,s:o}", "salvage", list, "next", next));
}

static struct reply salvage_list(struct rpc *rpc, struct call *call)
{
	const struct query_bind binds[] = {
		{ ":run", call_int(call, "run", ROW_NONE), NULL },
		{ ":before", call_int(call, "cursor", ROW_NONE), NULL },
		{ ":limit", call_int(call, "limit", LIST_LIMIT), NULL },
		{ NULL, 0, NULL },
	};

	rpc_read(rpc, "salvage.list", ROW_SALVAGE, binds, list_cb, call);
	return reply_later(call);
}

static void get_cb(void *arg, struct rowset *set)
{
	struct call *call = arg;

	if (set->count > 0)
		call_ok(call, json_row(ROW_SALVAGE, set->rows[0]));
	else
		call_error(call, RPC_NOT_FOUND, "id", "see `rlctl salvage list`",
		    "no such salvage: %lld", (long long)call_int(call, "id", 0));
	rowset_release(set);
}

static struct reply salvage_get(struct rpc *rpc, struct call *call)
{
	const struct query_bind binds[] = { { ":id", call_int(call, "id", 0), NULL }, { NULL, 0, NULL } };

	rpc_read(rpc, "salvage.get", ROW_SALVAGE, binds, get_cb, call);
	return reply_later(call);
}

static const struct schema list_params[] = {
	{ "run", SCHEMA_INT, .min = 1, .max = INT64_MAX, .help = "only entries of this run" },
	PAGE_PARAMS(LIST_MAX, "entries per page; default 50"),
	{ 0 },
};
static const struct schema get_params[] = {
	{ "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "of the salvage" },
	{ 0 },
};

static const struct result_field list_results[] = {
	{ "salvage", "[Salvage]", "newest first" },
	PAGE_NEXT,
	{ 0 },
};
static const struct result_field salvage_results[] = {
	RESULT_TYPE("Salvage"),
	{ 0 },
};
static const int get_errors[] = { RPC_NOT_FOUND, 0 };

const struct method salvage_methods[] = {
	{ "salvage.list", ACCESS_READ, true, list_params, list_results, NULL, salvage_list,
	    "list the work saved from removed work trees, in pages" },
	{ "salvage.get", ACCESS_READ, false, get_params, salvage_results, get_errors, salvage_get,
	    "return where git has the content of a removed work tree" },
	{ 0 },
};
