/* SPDX-License-Identifier: MIT */
#include "rpc/pruned.h"

#include <stdlib.h>

#include "model/row_json.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "rpc/context.h"
#include "rpc/run_load.h"

#define DATE 10			/* characters of "2026-11-28" */

char *pruned_text(const struct run_row *run)
{
	char at[32];

	if (run->pruned_at == ROW_NONE)
		return NULL;
	time_format(run->pruned_at, at, sizeof(at));
	return xasprintf("run %lld was pruned on %.*s", (long long)run->id, DATE, at);
}

bool call_pruned(struct call *call, const char *field, const struct run_row *run, const char *what, const char *hint)
{
	char *text = pruned_text(run), *remains;

	if (text == NULL)
		return false;
	remains = xasprintf("its tasks, reviews and record remain: rlctl show %lld", (long long)run->id);
	call_error(call, RPC_NOT_FOUND, field, hint != NULL ? hint : remains, "%s: %s", text, what);
	free(remains);
	free(text);
	return true;
}

json_t *pruned_json(const struct run_rows *rows)
{
	const struct pruned_row *pruned = rows->npruned > 0 ? rows->pruned[0] : NULL;
	json_t *json = pruned != NULL ? json_row(ROW_PRUNED, pruned) : json_null();

	if (pruned != NULL)
		json_object_set_new(json, "at", json_time(pruned->pruned_at));
	return json;
}

struct no_record {
	struct rpc *rpc;
	struct call *call;
	int64_t attempt;
};

static void no_record_cb(void *arg, const struct run_rows *rows)
{
	struct no_record *n = arg;

	if (rows == NULL || !call_pruned(n->call, "id", &rows->run, "the outputs of its attempts are gone", NULL))
		call_error(n->call, RPC_NOT_FOUND, "id", "it was removed from the state directory",
		    "no record in %s/attempts/%lld", n->rpc->state_dir, (long long)n->attempt);
	free(n);
}

void call_no_record(struct rpc *rpc, struct call *call, int64_t run, int64_t attempt)
{
	struct no_record *n = xcalloc(1, sizeof(*n));

	*n = (struct no_record){ rpc, call, attempt };
	load_run(rpc, run, 0, no_record_cb, n);
}
