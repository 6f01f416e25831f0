/* SPDX-License-Identifier: MIT */
#include "rpc/run_load.h"

#include <stdlib.h>

#include "proto/memory.h"

struct load {
	struct rpc *rpc;
	int64_t id;
	load_cb *cb;
	void *arg;
	struct run_rows *rows;
	bool found;
	size_t missing;		/* parts not read completely */
};

/* A part being read: all are requested at once, in one round trip to the database thread. */
struct load_part {
	struct load *load;
	const struct part *part;
};

static const struct part {
	unsigned what;		/* 0: always */
	const char *statement;
	enum row_kind kind;
	const char *bind;
} parts[] = {
	{ 0, "run.get", ROW_RUN, ":id" },
	{ LOAD_TASKS, "run.tasks", ROW_TASK, ":run" },
	{ LOAD_SLOTS, "run.slots", ROW_SLOT, ":run" },
	{ LOAD_ATTEMPTS, "run.attempts", ROW_ATTEMPT, ":run" },
	{ LOAD_REVIEWS, "run.reviews", ROW_REVIEW, ":run" },
	{ LOAD_FINDINGS, "run.findings", ROW_FINDING, ":run" },
	{ LOAD_PRODUCTS, "run.products", ROW_PRODUCT, ":run" },
	{ LOAD_EVIDENCE, "run.evidence", ROW_EVIDENCE, ":run" },
	{ LOAD_ENTRIES, "run.entries", ROW_ENTRY, ":run" },
	{ LOAD_PRUNED, "run.pruned", ROW_PRUNED, ":run" },
	{ LOAD_HOLDS, "run.holds", ROW_HOLD, ":run" },
	{ LOAD_ITERATIONS, "run.iterations", ROW_ITERATION, ":run" },
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void load_cb_rows(void *arg, struct rowset *set);

/* The page after `after`. */
static void load_page(struct load_part *p, int64_t after)
{
	const struct query_bind binds[] = {
		{ p->part->bind, p->load->id, NULL },
		{ after != ROW_NONE ? ":after" : NULL, after, NULL },
		{ NULL, 0, NULL },
	};

	rpc_read(p->load->rpc, p->part->statement, p->part->kind, binds, load_cb_rows, p);
}

static void load_cb_rows(void *arg, struct rowset *set)
{
	struct load_part *p = arg;
	struct load *load = p->load;
	int64_t after = p->part->what != 0 ? set->after : ROW_NONE;

	load->found |= p->part->kind == ROW_RUN && set->count > 0;
	for (size_t i = 0; i < set->count; i++)
		run_rows_put(load->rows, p->part->kind, set->rows[i]);
	set->count = 0;
	rowset_release(set);
	if (after != ROW_NONE) {
		load_page(p, after);
		return;
	}
	free(p);
	if (--load->missing > 0)
		return;
	load->cb(load->arg, load->found ? load->rows : NULL);
	run_rows_free(load->rows);
	free(load);
}

void load_run(struct rpc *rpc, int64_t id, unsigned what, load_cb *cb, void *arg)
{
	const struct run_rows *rows = view_run(engine_view(rpc->options.engine), id);
	struct load *load;

	if (rows != NULL) {
		cb(arg, rows);
		return;
	}
	load = xcalloc(1, sizeof(*load));
	load->rpc = rpc;
	load->id = id;
	load->cb = cb;
	load->arg = arg;
	load->rows = run_rows_new();
	for (size_t i = 0; i < PARTS; i++)
		load->missing += parts[i].what == 0 || (parts[i].what & what) != 0;
	for (size_t i = 0; i < PARTS; i++) {
		struct load_part *p;

		if (parts[i].what != 0 && !(parts[i].what & what))
			continue;
		p = xcalloc(1, sizeof(*p));
		*p = (struct load_part){ load, &parts[i] };
		load_page(p, ROW_NONE);
	}
}

void call_no_run(struct call *call, const char *field, int64_t id)
{
	call_error(call, RPC_NOT_FOUND, field, NULL, "no such run: %lld", (long long)id);
}

void call_ended(struct call *call, const char *field, const struct run_rows *rows, const char *hint)
{
	int64_t id = call_int(call, field, 0);

	if (rows == NULL)
		call_no_run(call, field, id);
	else
		call_error(call, RPC_WRONG_STATE, field, hint, "run %lld has ended: %s", (long long)id,
		    state_name(&run_state_names, rows->run.state));
}

void call_ended_retry(struct call *call, const char *field, const struct run_rows *rows, const char *hint)
{
	bool succeeded = rows != NULL && rows->run.state == RUN_S_SUCCEEDED;

	call_ended(call, field, rows, succeeded ? "its result stands; for another one, submit the task again" : hint);
}

struct of_run {
	struct rpc *rpc;
	struct call *call;
	void (*go)(struct rpc *rpc, struct call *call);
};

static void of_run_cb(void *arg, const struct run_rows *rows)
{
	struct of_run *of = arg;

	if (rows != NULL)
		of->go(of->rpc, of->call);
	else
		call_no_run(of->call, "run", call_int(of->call, "run", 0));
	free(of);
}

void call_of_run(struct rpc *rpc, struct call *call, void (*go)(struct rpc *rpc, struct call *call))
{
	int64_t run = call_int(call, "run", ROW_NONE);
	struct of_run *of;

	if (run == ROW_NONE) {
		go(rpc, call);
		return;
	}
	of = xcalloc(1, sizeof(*of));
	*of = (struct of_run){ rpc, call, go };
	load_run(rpc, run, 0, of_run_cb, of);
}

void call_refused(struct call *call, const struct engine_reply *reply, const char *subject)
{
	bool about = reply->code == RPC_NOT_FOUND || reply->code == RPC_WRONG_STATE;

	call_error(call, reply->code, reply->field != NULL || !about ? reply->field : subject,
	    reply->hint, "%s", reply->message);
}
