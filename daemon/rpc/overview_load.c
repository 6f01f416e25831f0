/* SPDX-License-Identifier: MIT */
#include "rpc/overview_load.h"

#include <stdlib.h>

#include "job/run_overview.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/document.h"
#include "rpc/run_reason.h"

struct overview_load {
	struct run_row *run;
	size_t index, missing;		/* missing: parts not read yet */
	struct run_overview overview;
	overview_cb *cb;
	void *arg;
};

static void load_end(struct overview_load *load)
{
	if (--load->missing > 0)
		return;
	load->cb(load->arg, load->index, run_summary(load->run, &load->overview));
	overview_release(&load->overview);
	row_free(ROW_RUN, load->run);
	free(load);
}

static void outline_cb(void *arg, struct rowset *set)
{
	struct overview_load *load = arg;

	for (size_t i = 0; i < set->count; i++) {
		const struct task_row *task = set->rows[i];

		overview_count(&load->overview, task, (size_t)task->size);
	}
	rowset_release(set);
	load_end(load);
}

static void blamed_cb(void *arg, struct rowset *set)
{
	struct overview_load *load = arg;

	for (size_t i = 0; i < set->count; i++) {
		const struct task_row *task = set->rows[i];

		overview_blame(&load->overview, task->id, task->reason);
	}
	rowset_release(set);
	load_end(load);
}

static void spent_cb(void *arg, struct rowset *set)
{
	struct overview_load *load = arg;

	for (size_t i = 0; i < set->count; i++)
		overview_spend(&load->overview, ((const struct attempt_row *)set->rows[i])->cost_usd);
	rowset_release(set);
	load_end(load);
}

static void branches_cb(void *arg, struct rowset *set)
{
	struct overview_load *load = arg;

	for (size_t i = 0; i < set->count; i++) {
		const struct slot_row *slot = set->rows[i];

		if (slot->slot > 0)
			overview_branch(&load->overview, slot->branch, (size_t)slot->slot);
	}
	rowset_release(set);
	load_end(load);
}

static const struct {
	const char *statement;
	enum row_kind kind;
	store_rows_cb *cb;
} parts[] = {
	{ "run.outline", ROW_TASK, outline_cb },
	{ "run.blamed", ROW_TASK, blamed_cb },
	{ "run.spent", ROW_ATTEMPT, spent_cb },
	{ "run.branches", ROW_SLOT, branches_cb },
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static json_t *live_summary(struct rpc *rpc, const struct run_rows *rows)
{
	struct run_overview overview = overview_of(rows);
	struct run_row *copy;
	const struct run_rows now = run_reason_now(rpc, rows, &copy);
	json_t *json = run_summary(&now.run, &overview);

	run_reason_add(rpc, rows, json);
	row_free(ROW_RUN, copy);
	overview_release(&overview);
	return json;
}

void overview_load(struct rpc *rpc, const struct run_row *run, size_t index, overview_cb *cb, void *arg)
{
	const struct run_rows *rows = view_run(engine_view(rpc->options.engine), run->id);
	const struct query_bind binds[] = { { ":run", run->id, NULL }, { NULL, 0, NULL } };
	struct overview_load *load;

	if (rows != NULL) {
		cb(arg, index, live_summary(rpc, rows));
		return;
	}
	load = xcalloc(1, sizeof(*load));
	*load = (struct overview_load){ .run = row_copy(ROW_RUN, run), .index = index, .missing = PARTS,
		.cb = cb, .arg = arg };
	overview_init(&load->overview);
	for (size_t i = 0; i < PARTS; i++)
		rpc_read(rpc, parts[i].statement, parts[i].kind, binds, parts[i].cb, load);
}
