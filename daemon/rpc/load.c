/* SPDX-License-Identifier: MIT */
#include "rpc/load.h"

#include <stdlib.h>

#include "base/memory.h"

struct load {
	struct rpc *rpc;
	int64_t id;
	unsigned what;
	load_cb *cb;
	void *arg;
	struct run_rows *rows;
	size_t part;		/* of parts, being read */
	int64_t after;		/* its next page begins behind this */
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
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void load_end(struct load *load, const struct run_rows *rows)
{
	load->cb(load->arg, rows);
	run_rows_free(load->rows);
	free(load);
}

static void load_cb_rows(void *arg, struct rowset *set);

static void load_part(struct load *load)
{
	const struct part *part;
	struct query_bind binds[3] = { { NULL, 0, NULL } };

	while (load->part < PARTS && parts[load->part].what != 0 && !(parts[load->part].what & load->what))
		load->part++;
	if (load->part == PARTS) {
		load_end(load, load->rows);
		return;
	}
	part = &parts[load->part];
	binds[0] = (struct query_bind){ part->bind, load->id, NULL };
	if (part->what != 0)
		binds[1] = (struct query_bind){ ":after", load->after, NULL };
	rpc_read(load->rpc, part->statement, part->kind, binds, load_cb_rows, load);
}

static void load_cb_rows(void *arg, struct rowset *set)
{
	struct load *load = arg;
	const struct part *part = &parts[load->part];

	if (part->kind == ROW_RUN && set->count == 0) {
		rowset_release(set);
		load_end(load, NULL);
		return;
	}
	for (size_t i = 0; i < set->count; i++)
		run_rows_put(load->rows, part->kind, set->rows[i]);
	set->count = 0;
	load->after = part->what == 0 ? ROW_NONE : set->after;
	rowset_release(set);
	if (load->after == ROW_NONE)
		load->part++;
	load_part(load);
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
	load->what = what;
	load->cb = cb;
	load->arg = arg;
	load->rows = run_rows_new();
	load->after = ROW_NONE;
	load_part(load);
}
