/* SPDX-License-Identifier: MIT */
/* The queue: which run gets a slot of the daemon next, and why the others wait. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/schedule.h"
#include "engine/engine_int.h"

/* The run that works in the workspace, is held there or was sent back and waits for a slot; NULL: it is free. */
static const struct run_row *occupant(const struct run_row *run, struct run_row *const *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (runs[i] != run && (runs[i]->state == RUN_S_RUNNING || runs[i]->state == RUN_S_HELD ||
		    (runs[i]->state == RUN_S_QUEUED && runs[i]->started_at != ROW_NONE)) &&
		    strcmp(runs[i]->workspace, run->workspace) == 0)
			return runs[i];
	return NULL;
}

static struct run_row *next_run(struct run_row *const *runs, size_t count, int64_t free_slots)
{
	struct run_row *best = NULL;

	if (free_slots <= 0)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (runs[i]->state != RUN_S_QUEUED || (best != NULL && runs[i]->priority <= best->priority))
			continue;
		if (occupant(runs[i], runs, count) == NULL)
			best = runs[i];
	}
	return best;
}

static char *reason_of(const struct run_row *run, struct run_row *const *runs, size_t count, int64_t free_slots)
{
	const struct run_row *busy = occupant(run, runs, count);

	if (busy != NULL)
		return xasprintf("workdir busy: run %lld", (long long)busy->id);
	if (free_slots <= 0)
		return xasprintf("all slots of the daemon are in use");
	return NULL;
}

static int64_t used_slots(struct run_row *const *runs, size_t count)
{
	int64_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += runs[i]->state == RUN_S_RUNNING;
	return used;
}

static size_t collect_rows(struct engine *engine, struct run_row ***rows)
{
	struct run *run;
	size_t count = 0;

	LIST_FOREACH(run, &engine->runs, entry)
		count++;
	*rows = xcalloc(count, sizeof(**rows));
	/* the list is newest first */
	size_t at = count;

	LIST_FOREACH(run, &engine->runs, entry)
		(*rows)[--at] = &run->rows->run;
	return count;
}

static void tell_reasons(struct engine *engine, struct run_row **rows, size_t count, int64_t free_slots)
{
	struct turn *turn = NULL;

	for (size_t i = 0; i < count; i++) {
		char *reason;

		if (rows[i]->state != RUN_S_QUEUED)
			continue;
		reason = engine->draining ? xstrdup("the daemon is draining") : reason_of(rows[i], rows, count, free_slots);
		if ((reason == NULL) == (rows[i]->reason == NULL) && (reason == NULL || strcmp(reason, rows[i]->reason) == 0)) {
			free(reason);
			continue;
		}
		if (turn == NULL)
			turn = turn_new(engine);
		free(rows[i]->reason);
		rows[i]->reason = reason;
		turn_put(turn, ROW_RUN, rows[i]);
		run_tell_state(turn, run_find(engine, rows[i]->id));
	}
	if (turn != NULL)
		turn_commit(turn);
}

void engine_schedule(struct engine *engine)
{
	struct run_row **rows, *next;
	size_t count;
	struct turn *turn = NULL;

	if (engine->recovering || engine->stopped)
		return;
	count = collect_rows(engine, &rows);
	while (!engine->draining && (next = next_run(rows, count, engine->parallel - used_slots(rows, count))) != NULL) {
		if (turn == NULL)
			turn = turn_new(engine);
		run_event(turn, run_find(engine, next->id), next->started_at == ROW_NONE ? RUN_E_START : RUN_E_RESUME, NULL);
	}
	if (turn != NULL)
		turn_commit(turn);
	tell_reasons(engine, rows, count, engine->parallel - used_slots(rows, count));
	free(rows);
}
