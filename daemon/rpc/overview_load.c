/* SPDX-License-Identifier: MIT */
#include "rpc/overview_load.h"

#include <stdlib.h>

#include "base/log.h"
#include "job/run_overview.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/document.h"
#include "rpc/run_reason.h"

/* A page of runs, newest first. */
struct overview_load {
	struct rpc *rpc;
	struct rowset runs;		/* owned */
	json_t *list;			/* their entries; null: not made yet */
	struct run_overview *overviews;	/* of each of them */
	size_t missing;			/* parts not read yet */
	overview_cb *cb;
	void *arg;
};

static struct run_overview *of_run(struct overview_load *load, int64_t id)
{
	for (size_t i = 0; i < load->runs.count; i++)
		if (((const struct run_row *)load->runs.rows[i])->id == id)
			return &load->overviews[i];
	log_fatal("the database names run %lld, which was not asked for; restore a backup", (long long)id);
}

static void add_outline(struct overview_load *load, const void *row)
{
	const struct task_row *task = row;

	overview_count(of_run(load, task->run), task, (size_t)task->size);
}

static void add_blamed(struct overview_load *load, const void *row)
{
	const struct task_row *task = row;

	overview_blame(of_run(load, task->run), task->id, task->reason);
}

static void add_spent(struct overview_load *load, const void *row)
{
	const struct attempt_row *attempt = row;

	overview_spend(of_run(load, attempt->run), attempt->cost_usd);
}

static void add_branches(struct overview_load *load, const void *row)
{
	const struct slot_row *slot = row;

	overview_branch(of_run(load, slot->run), slot->branch, (size_t)slot->slot);
}

static const struct {
	const char *statement;
	enum row_kind kind;
	void (*add)(struct overview_load *load, const void *row);
} parts[] = {
	{ "run.outline", ROW_TASK, add_outline },
	{ "run.blamed", ROW_TASK, add_blamed },
	{ "run.spent", ROW_ATTEMPT, add_spent },
	{ "run.branches", ROW_SLOT, add_branches },
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

static void load_end(struct overview_load *load)
{
	for (size_t i = 0; i < load->runs.count; i++) {
		if (json_is_null(json_array_get(load->list, i)))
			json_array_set_new(load->list, i, run_summary(load->runs.rows[i], &load->overviews[i]));
		overview_release(&load->overviews[i]);
	}
	load->cb(load->arg, load->list);
	free(load->overviews);
	rowset_release(&load->runs);
	free(load);
}

/* The parts come in the order in which they were asked for. */
static void part_cb(void *arg, struct rowset *set)
{
	struct overview_load *load = arg;

	for (size_t i = 0; i < set->count; i++)
		parts[PARTS - load->missing].add(load, set->rows[i]);
	rowset_release(set);
	if (--load->missing == 0)
		load_end(load);
}

/* List the runs: unfinished ones as they are now, null for the others. These as a JSON array of
 * ids, malloc'd; NULL: there are none. */
static char *list_live(struct overview_load *load)
{
	const struct view *view = engine_view(load->rpc->options.engine);
	json_t *ended = json_array();
	char *text;

	for (size_t i = 0; i < load->runs.count; i++) {
		int64_t id = ((const struct run_row *)load->runs.rows[i])->id;
		const struct run_rows *rows = view_run(view, id);

		json_array_append_new(load->list, rows != NULL ? live_summary(load->rpc, rows) : json_null());
		if (rows == NULL)
			json_array_append_new(ended, json_integer(id));
	}
	text = json_array_size(ended) > 0 ? json_dumps(ended, JSON_COMPACT) : NULL;
	json_decref(ended);
	return text;
}

void overview_load(struct rpc *rpc, struct rowset *runs, overview_cb *cb, void *arg)
{
	struct overview_load *load = xcalloc(1, sizeof(*load));
	char *ended;

	*load = (struct overview_load){ .rpc = rpc, .runs = *runs, .missing = PARTS, .cb = cb, .arg = arg,
		.list = json_array(),
		.overviews = xreallocarray(NULL, runs->count + 1, sizeof(struct run_overview)) };
	*runs = (struct rowset){ 0 };
	for (size_t i = 0; i < load->runs.count; i++)
		overview_init(&load->overviews[i]);
	ended = list_live(load);
	for (size_t i = 0; ended != NULL && i < PARTS; i++)
		rpc_read(rpc, parts[i].statement, parts[i].kind, (const struct query_bind[]){
			{ ":runs", ROW_NONE, ended }, { NULL, 0, NULL } }, part_cb, load);
	if (ended == NULL)
		load_end(load);
	free(ended);
}
