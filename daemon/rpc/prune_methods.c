/* SPDX-License-Identifier: MIT */
/* state.prune: remove what is kept of ended runs. */
#include <stdlib.h>

#include "config/config.h"
#include "keep/keeper.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/context.h"

#define LISTED 1000		/* runs in each list of the answer */
#define AGE_MAX (INT64_C(36500) * 86400 * 1000)

/* Why it stays. malloc'd. */
static char *reason_of(const struct retention_run *run, const struct prune_run *of)
{
	switch (run->need) {
	case RETENTION_RUNNING:
		return xasprintf("it is %s", run->at_work ? "being completed" :
		    state_name(&run_state_names, of->row->state));
	case RETENTION_HELD:
		return xstrdup("a human has to decide: rlctl hold list");
	case RETENTION_HOOK:
		return xstrdup("a hook that tells of it is running");
	case RETENTION_NEEDED:
		return run->by != ROW_NONE ? xasprintf("run %lld needs it", (long long)run->by) :
		    xstrdup("another run needs it now");
	case RETENTION_UNMERGED:
		return xasprintf("no branch of yours has %s", of->detail);
	case RETENTION_SALVAGE:
		return xasprintf("no branch of yours has what was saved of it, %s", of->detail);
	case RETENTION_UNREADABLE:
		return xasprintf("its repository cannot be asked: %s", of->detail);
	case RETENTION_FREE:
	case RETENTION_NEEDS:
		break;
	}
	return NULL;
}

static json_t *run_json(const struct retention_run *run, const struct prune_run *of)
{
	return json_pack("{s:I,s:s,s:o,s:o,s:s}", "run", (json_int_t)run->id,
	    "state", state_name(&run_state_names, of->row->state), "ended_at", json_time(of->row->ended_at),
	    "bytes", json_int(run->bytes), "why", state_name(&retention_limit_names, (int)run->limit));
}

/* What to do so that it can go; NULL: nothing. malloc'd. */
static char *remedy_of(const struct retention_run *run, const struct prune_run *of)
{
	if (run->need == RETENTION_UNMERGED)
		return xasprintf("merge it, or prune with --unmerged: %s stays as it is in %s", of->detail,
		    of->row->workspace);
	if (run->need == RETENTION_SALVAGE)
		return xasprintf("rlctl salvage list %lld; it goes when it is as old as keep.failures says, or with "
		    "--unmerged", (long long)run->id);
	if (run->need == RETENTION_UNREADABLE)
		return xstrdup("bring the repository back, or prune with --unmerged if what it had is not needed");
	return NULL;
}

static json_t *kept_json(const struct retention_run *run, const struct prune_run *of)
{
	char *reason = reason_of(run, of), *remedy = remedy_of(run, of);
	json_t *json = run_json(run, of);

	json_object_set_new(json, "need", json_text(state_name(&retention_need_names, (int)run->need)));
	json_object_set_new(json, "reason", json_text(reason));
	json_object_set_new(json, "remedy", json_text(remedy));
	free(remedy);
	free(reason);
	return json;
}

static json_t *texts(char *const *list)
{
	json_t *array = json_array();

	for (; list != NULL && *list != NULL; list++)
		json_array_append_new(array, json_text(*list));
	return array;
}

static void pruned_cb(void *arg, const struct prune_result *result)
{
	struct call *call = arg;
	json_t *gone, *kept;
	size_t nkept = 0;

	if (result->code != RPC_OK) {
		call_error(call, result->code, NULL, result->code == RPC_NO_SPACE ?
		    "some MiB are enough: remove something else first" : "prune again: nothing is half removed",
		    "%s%s%zu runs were pruned before", result->fault, ": ", result->gone);
		return;
	}
	gone = json_array();
	kept = json_array();
	for (size_t i = 0; i < result->count; i++) {
		const struct retention_run *run = &result->runs[i];

		if (retention_goes(run) && json_array_size(gone) < LISTED)
			json_array_append_new(gone, run_json(run, &result->of[i]));
		else if (run->limit != RETENTION_NONE && !retention_goes(run) && nkept++ < LISTED)
			json_array_append_new(kept, kept_json(run, &result->of[i]));
	}
	call_ok(call, json_pack("{s:b,s:o,s:I,s:I,s:I,s:o,s:I,s:o}", "check", call_flag(call, "check"), "runs", gone,
	    "count", (json_int_t)result->gone, "bytes", (json_int_t)result->bytes,
	    "prepared_bytes", (json_int_t)result->prepared, "kept", kept, "kept_count", (json_int_t)nkept,
	    "left", texts(result->left)));
}

static struct reply state_prune(struct rpc *rpc, struct call *call)
{
	static const struct {
		const char *name;
		enum schema_kind kind;
		size_t offset;
	} limits[] = {
		{ "older", SCHEMA_DURATION, offsetof(struct retention_policy, age) },
		{ "failures", SCHEMA_DURATION, offsetof(struct retention_policy, failures) },
		{ "number", SCHEMA_INT, offsetof(struct retention_policy, number) },
		{ "size", SCHEMA_SIZE, offsetof(struct retention_policy, size) },
	};
	struct prune_request request = {
		.check = call_flag(call, "check"), .unmerged = call_flag(call, "unmerged"),
		.by_uid = (int64_t)call_uid(call),
	};
	bool automatic;

	request.policy = config_keep(rpc_config(rpc), &automatic);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const struct schema schema = { .kind = limits[i].kind, .max = INT64_MAX };
		const json_t *value = call_param(call, limits[i].name);
		int64_t *limit = (int64_t *)(void *)((char *)&request.policy + limits[i].offset);

		if (json_is_integer(value) && limits[i].kind == SCHEMA_INT)
			*limit = json_integer_value(value);
		else if (value != NULL)
			(void)schema_number(&schema, value, limit);
	}
	keeper_prune(rpc->options.keeper, &request, pruned_cb, call);
	return reply_later(call);
}

static const struct schema prune_params[] = {
	{ "check", SCHEMA_BOOL, .help = "say what would go; make no changes (dry run)" },
	{ "older", SCHEMA_DURATION, .max = AGE_MAX, .help = "instead of keep.age" },
	{ "failures", SCHEMA_DURATION, .max = AGE_MAX, .help = "instead of keep.failures" },
	{ "number", SCHEMA_INT, .max = 1000000000, .help = "instead of keep.number" },
	{ "size", SCHEMA_SIZE, .max = INT64_C(1) << 50, .help = "instead of keep.size" },
	{ "unmerged", SCHEMA_BOOL, .help =
	    "also runs whose results are on no branch but rld's; these branches stay" },
	{ 0 },
};
static const struct result_field prune_results[] = {
	{ "check", "boolean", "true: nothing was removed" },
	{ "runs", "[PrunedRun]", "that went, or would go, oldest first: at most 1000" },
	{ "count", "integer", "their number" },
	{ "bytes", "integer", "what was kept of them" },
	{ "prepared_bytes", "integer", "likewise of prepared rooms that nothing uses" },
	{ "kept", "[KeptRun]", "runs beyond the limits that stay, oldest first: at most 1000" },
	{ "kept_count", "integer", "their number" },
	{ "left", "[string]", "what could not be removed; the next start or prune tries again" },
	{ 0 },
};
static const int prune_errors[] = { RPC_NO_SPACE, RPC_UNAVAILABLE, 0 };

const struct method prune_methods[] = {
	{ "state.prune", ACCESS_ADMIN, false, prune_params, prune_results, prune_errors, state_prune,
	    "remove outputs, directories and refs of old runs; their rows and reviews stay" },
	{ 0 },
};
