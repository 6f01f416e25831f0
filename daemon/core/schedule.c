/* SPDX-License-Identifier: MIT */
#include "core/schedule.h"

#include <string.h>

#include "base/memory.h"

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

struct run_row *schedule_next(struct run_row *const *runs, size_t count, int64_t free_slots)
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

char *schedule_reason(const struct run_row *run, struct run_row *const *runs, size_t count, int64_t free_slots)
{
	const struct run_row *busy = occupant(run, runs, count);

	if (busy != NULL)
		return xasprintf("workdir busy: run %lld", (long long)busy->id);
	if (free_slots <= 0)
		return xasprintf("all slots of the daemon are in use");
	return NULL;
}

int64_t schedule_used(struct run_row *const *runs, size_t count)
{
	int64_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += runs[i]->state == RUN_S_RUNNING;
	return used;
}
