/* SPDX-License-Identifier: MIT */
/* Changes of a run or a task, from the diffs made when the work was measured and merged. They are
 * kept with the record of the run, so no work tree is needed. */
#include <stdlib.h>
#include <string.h>

#include "core/slot.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/chunk.h"
#include "rpc/context.h"
#include "rpc/pruned.h"
#include "rpc/run_load.h"

static bool shows_whole(const struct run_rows *rows, const struct slot_row *slot)
{
	bool merged = rows->run.result_branch != NULL &&
	    (slot->stage == SLOT_S_PASSED || slot->stage == SLOT_S_IMPLEMENTED);

	return slot->diff != ROW_NONE && !slot_row_is_beside(slot) && (slot->slot == 0 || merged);
}

static const struct slot_row *slot_of_task(const struct run_rows *rows, const char *task)
{
	const struct slot_row *found = NULL;

	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->diff != ROW_NONE && rows->slots[i]->task != NULL &&
		    !slot_row_is_beside(rows->slots[i]) &&
		    strcmp(rows->slots[i]->task, task) == 0)
			found = rows->slots[i];
	return found;
}

static int compare_positions(const void *a, const void *b)
{
	int64_t left = (*(const struct task_row *const *)a)->position,
	    right = (*(const struct task_row *const *)b)->position;

	return (left > right) - (left < right);
}

/* The newest diff of the merged work or of the review of the whole run; otherwise those of each
 * task, in order. *slot: the only slot, NULL: several. Returns step ids, to be freed. */
static int64_t *diff_steps(const struct run_rows *rows, size_t *count, const struct slot_row **slot)
{
	int64_t *steps = xcalloc(rows->ntasks + 1, sizeof(*steps));
	const struct task_row **tasks = xcalloc(rows->ntasks + 1, sizeof(struct task_row *));

	*count = 0;
	*slot = NULL;
	for (size_t i = 0; i < rows->nslots; i++)
		if (shows_whole(rows, rows->slots[i]) && (*count == 0 || rows->slots[i]->diff > steps[0])) {
			steps[0] = rows->slots[i]->diff;
			*slot = rows->slots[i]->slot == 0 ? rows->slots[i] : NULL;
			*count = 1;
		}
	if (*count == 0 && rows->ntasks > 0) {
		memcpy(tasks, rows->tasks, rows->ntasks * sizeof(struct task_row *));
		qsort(tasks, rows->ntasks, sizeof(struct task_row *), compare_positions);
		for (size_t i = 0; i < rows->ntasks; i++) {
			const struct slot_row *of = slot_of_task(rows, tasks[i]->id);

			if (of == NULL)
				continue;
			*slot = *count == 0 ? of : NULL;
			steps[(*count)++] = of->diff;
		}
	}
	free(tasks);
	return steps;
}

struct diff {
	struct rpc *rpc;
	struct call *call;
	char *base, *tree;	/* git trees compared; NULL: unknown, or several */
	char *gone;		/* what to do if the record was pruned; NULL: nothing */
};

static struct diff *diff_new(struct rpc *rpc, struct call *call)
{
	struct diff *d = xcalloc(1, sizeof(*d));

	*d = (struct diff){ .rpc = rpc, .call = call };
	return d;
}

static void diff_free(struct diff *d)
{
	free(d->base);
	free(d->tree);
	free(d->gone);
	free(d);
}

static void set_trees(struct diff *d, const struct run_row *run, const char *base, const char *tree)
{
	text_set(&d->base, base != NULL ? base : run->base_tree);
	text_set(&d->tree, tree);
	if (d->base != NULL && d->tree != NULL && run->evidence != NULL)
		d->gone = xasprintf("the trees may still be there: git --git-dir=%s/evidence/%s.git diff %s %s",
		    d->rpc->state_dir, run->evidence, d->base, d->tree);
}

static void diff_answer(struct diff *d, const int64_t *steps, size_t count)
{
	struct chunk_request request = {
		.loop = d->rpc->options.loop,
		.state_dir = d->rpc->state_dir,
		.id = steps[0],
		.nothers = count - 1,
		.name = "stdout",
		.key = "diff",
		.segments = true,
		.complete = true,
		.offset = call_int(d->call, "offset", 0),
		.limit = call_int(d->call, "limit", CHUNK_MAX),
		.more = json_pack("{s:o,s:o}", "base_tree", json_text(d->base), "tree", json_text(d->tree)),
		.gone = d->gone,
	};

	request.others = xcalloc(count, sizeof(*steps));
	memcpy(request.others, steps + 1, (count - 1) * sizeof(*steps));
	d->gone = NULL;
	chunk_answer(d->call, &request);
}

/* what: "run 42", "task T-07 of run 42". */
static void no_diff(struct diff *d, const struct run_row *run, const char *field, const char *what)
{
	char *hint = run->has_git != 1 ? xstrdup("its directory was not in a git repository; diffs need git") :
	    xasprintf("a diff is made when an agent has completed its work; \"rlctl salvage list %lld\" shows what "
	        "was saved of the rest", (long long)run->id);

	call_error(d->call, RPC_NOT_FOUND, field, hint, "%s has no diff", what);
	free(hint);
}

static void of_run(struct diff *d, const struct run_rows *rows)
{
	const struct slot_row *slot;
	size_t count;
	int64_t *steps = diff_steps(rows, &count, &slot);
	char *what = xasprintf("run %lld", (long long)rows->run.id);
	bool merged = rows->run.result_branch != NULL && rows->run.result_commit != NULL;

	set_trees(d, &rows->run, NULL, slot != NULL ? slot->tree : merged ? rows->run.result_tree : NULL);
	if (count == 0)
		no_diff(d, &rows->run, "id", what);
	else
		diff_answer(d, steps, count);
	free(what);
	free(steps);
	diff_free(d);
}

/* The diff of the work before it was merged. */
static void measured_cb(void *arg, struct rowset *set)
{
	struct diff *d = arg;

	if (set->count > 0)
		diff_answer(d, &((const struct step_row *)set->rows[0])->id, 1);
	else
		call_error(d->call, RPC_NOT_FOUND, "task", d->gone, "the diff of the task was removed from the record");
	rowset_release(set);
	diff_free(d);
}

/* Once its work is merged, the slot has the diff of the whole branch. */
static bool is_merged(const struct slot_row *slot)
{
	return slot->merge == MERGE_UNCHANGED || slot->merge == MERGE_CHECKED || slot->merge == MERGE_UNCHECKED ||
	    slot->merge == MERGE_TOGETHER;
}

static void of_slot(struct diff *d, const struct slot_row *slot)
{
	const struct query_bind binds[] = {
		{ ":run", slot->run, NULL }, { ":iteration", slot->iteration, NULL },
		{ ":slot", slot->slot, NULL }, { ":before", slot->diff, NULL }, { NULL, 0, NULL },
	};

	if (is_merged(slot)) {
		rpc_read(d->rpc, "step.measured", ROW_STEP, binds, measured_cb, d);
		return;
	}
	diff_answer(d, &slot->diff, 1);
	diff_free(d);
}

static void of_task(struct diff *d, const struct run_rows *rows, const char *task)
{
	const struct slot_row *slot = slot_of_task(rows, task);
	char *what = xasprintf("task %s of run %lld", task, (long long)rows->run.id), *hint;

	if (slot != NULL) {
		set_trees(d, &rows->run, slot->base_tree, slot->tree);
		of_slot(d, slot);
	} else if (run_rows_task(rows, task) != NULL) {
		no_diff(d, &rows->run, "task", what);
		diff_free(d);
	} else {
		hint = xasprintf("\"rlctl show %lld\" lists its tasks", (long long)rows->run.id);
		call_error(d->call, RPC_NOT_FOUND, "task", hint, "run %lld has no task %s",
		    (long long)rows->run.id, task);
		free(hint);
		diff_free(d);
	}
	free(what);
}

/* The trees may have outlived the diff. */
static void of_pruned(struct diff *d, const struct run_rows *rows, const char *task)
{
	const struct slot_row *slot = task != NULL ? slot_of_task(rows, task) : NULL;

	set_trees(d, &rows->run, slot != NULL ? slot->base_tree : NULL,
	    slot != NULL ? slot->tree : rows->run.result_tree);
	call_pruned(d->call, "id", &rows->run, "its diffs are gone", d->gone);
	diff_free(d);
}

static void diff_cb(void *arg, const struct run_rows *rows)
{
	struct diff *d = arg;
	const char *task = call_text(d->call, "task");

	if (rows == NULL) {
		call_no_run(d->call, "id", call_int(d->call, "id", 0));
		diff_free(d);
	} else if (rows->run.pruned_at != ROW_NONE) {
		of_pruned(d, rows, task);
	} else if (task != NULL) {
		of_task(d, rows, task);
	} else {
		of_run(d, rows);
	}
}

static struct reply diff_call(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "id", 0), LOAD_SLOTS | LOAD_TASKS, diff_cb, diff_new(rpc, call));
	return reply_later(call);
}

static const struct schema diff_params[] = {
	{ "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "of the run" },
	{ "task", SCHEMA_TEXT, .min = 1, .max = 4096,
	    .help = "only what this task changed, compared with the base that it was judged on" },
	{ "offset", SCHEMA_INT, .max = INT64_MAX, .help = "first byte to return" },
	{ "limit", SCHEMA_INT, .clamp = true, .min = 1, .max = CHUNK_MAX, .help =
	    "maximum number of bytes" },
	{ 0 },
};
static const struct result_field diff_results[] = {
	{ "offset", "integer",
	    "offset of the first byte of diff; greater than the requested one where bytes were "
	    "dropped" },
	{ "next", "integer", "offset to continue with" },
	{ "diff", "string",
	    "of a run: the branch with the commits of all tasks, or the review of the whole run, "
	    "compared with the start; otherwise the changes of each task, in order" },
	{ "encoding", "'utf-8'|'base64'", "of diff" },
	{ "eof", "boolean", "whether this is the end" },
	{ "dropped", "integer", "number of bytes missing before offset" },
	{ "base_tree", "string|null", "git tree at the start; of a task, that its work is compared with" },
	{ "tree", "string|null", "git tree that is compared with it; null: more than one" },
	{ 0 },
};

static const int diff_errors[] = { RPC_NOT_FOUND, RPC_UNAVAILABLE, 0 };

const struct method diff_methods[] = {
	{ "run.diff", ACCESS_READ, true, diff_params, diff_results, diff_errors, diff_call,
	    "return the changes of a run or of one of its tasks" },
	{ 0 },
};
