/* SPDX-License-Identifier: MIT */
/* Changes of a run, from the diffs made for its reviews and merges. */
#include <stdlib.h>
#include <string.h>

#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/chunk.h"
#include "rpc/context.h"
#include "rpc/run_load.h"

static bool shows_whole(const struct run_rows *rows, const struct slot_row *slot)
{
	bool merged = rows->run.result_branch != NULL &&
	    (slot->stage == SLOT_S_PASSED || slot->stage == SLOT_S_IMPLEMENTED);

	return slot->diff != ROW_NONE && (slot->slot == 0 || merged);
}

static const struct slot_row *slot_of_task(const struct run_rows *rows, const char *task)
{
	const struct slot_row *found = NULL;

	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->diff != ROW_NONE && rows->slots[i]->task != NULL &&
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
};

static void diff_cb(void *arg, const struct run_rows *rows)
{
	struct diff *d = arg;
	const struct slot_row *slot = NULL;
	struct chunk_request request;
	size_t count = 0;
	int64_t *steps = rows != NULL ? diff_steps(rows, &count, &slot) : NULL;

	if (rows == NULL) {
		call_no_run(d->call, "id", call_int(d->call, "id", 0));
	} else if (count == 0) {
		call_error(d->call, RPC_NOT_FOUND, "id",
		    "diffs are made for reviews; without one, use git diff in the workdir",
		    "run %lld has no diff", (long long)rows->run.id);
	} else {
		request = (struct chunk_request){
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
			.more = json_pack("{s:o,s:o}", "base_tree", json_text(rows->run.base_tree),
			    "tree", json_text(slot != NULL ? slot->tree : NULL)),
		};
		request.others = xcalloc(count, sizeof(*steps));
		memcpy(request.others, steps + 1, (count - 1) * sizeof(*steps));
		chunk_answer(d->call, &request);
	}
	free(steps);
	free(d);
}

static struct reply diff_call(struct rpc *rpc, struct call *call)
{
	struct diff *d = xcalloc(1, sizeof(*d));

	*d = (struct diff){ rpc, call };
	load_run(rpc, call_int(call, "id", 0), LOAD_SLOTS | LOAD_TASKS, diff_cb, d);
	return reply_later(call);
}

static const struct schema diff_params[] = {
	{ "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "of the run" },
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
	    "the branch with the commits of all tasks, or the review of the whole run, compared "
	    "with the start; otherwise the changes of each task, in order" },
	{ "encoding", "'utf-8'|'base64'", "of diff" },
	{ "eof", "boolean", "whether this is the end" },
	{ "dropped", "integer", "number of bytes missing before offset" },
	{ "base_tree", "string|null", "git tree at the start" },
	{ "tree", "string|null", "git tree that was compared; null: more than one" },
	{ 0 },
};

static const int diff_errors[] = { RPC_NOT_FOUND, RPC_UNAVAILABLE, 0 };

const struct method diff_methods[] = {
	{ "run.diff", ACCESS_READ, true, diff_params, diff_results, diff_errors, diff_call,
	    "return the changes of a run" },
	{ 0 },
};
