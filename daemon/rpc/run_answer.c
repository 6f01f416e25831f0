/* SPDX-License-Identifier: MIT */
#include "rpc/run_answer.h"

#include <stdlib.h>

#include "core/row.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/document.h"
#include "rpc/run_load.h"
#include "rpc/run_reason.h"

struct pending *pending_new(struct rpc *rpc, struct call *call)
{
	struct pending *p = xcalloc(1, sizeof(*p));

	*p = (struct pending){ rpc, call };
	return p;
}

json_t *run_answer(struct rpc *rpc, const struct run_rows *rows)
{
	struct run_row *copy;
	const struct run_rows now = run_reason_now(rpc, rows, &copy);
	json_t *json = run_document(&now, engine_plan(rpc->options.engine, rows->run.id), clock_wall());

	run_reason_add(rpc, rows, json);
	row_free(ROW_RUN, copy);
	return json;
}

void run_answer_cb(void *arg, const struct engine_reply *reply)
{
	struct pending *p = arg;
	const struct run_rows *rows = reply->rows;

	if (reply->code != RPC_OK) {
		call_refused(p->call, reply, "id");
		free(p);
		return;
	}
	if (rows == NULL && reply->id != ROW_NONE)
		rows = view_run(engine_view(p->rpc->options.engine), reply->id);
	if (rows != NULL)
		call_ok(p->call, run_answer(p->rpc, rows));
	else
		call_ok(p->call, json_pack("{s:n,s:s}", "id", "state", "checked"));
	free(p);
}
