/* SPDX-License-Identifier: MIT */
#include "engine/needs.h"

#include <sys/queue.h>

#include "core/row.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/view.h"
#include "proto/memory.h"
#include "run/submission.h"

static bool names(const struct pending_submit *p, int64_t run)
{
	return p->retry_of == run || p->after == run;
}

bool engine_needs_run(const struct engine *engine, int64_t id)
{
	const struct pending_submit *p;
	const struct run *run;
	bool needs = view_run(engine->view, id) != NULL;

	LIST_FOREACH(run, &engine->runs, entry)
		needs = needs || run->rows->run.id == id || run->rows->run.retry_of == id ||
		    run->rows->run.after_run == id;
	TAILQ_FOREACH(p, &engine->reading, entry)
		needs = needs || names(p, id);
	TAILQ_FOREACH(p, &engine->submits, entry)
		needs = needs || names(p, id);
	TAILQ_FOREACH(p, &engine->deciding, entry)
		needs = needs || names(p, id);
	return needs;
}

void engine_set_pruned(struct engine *engine, int64_t run, bool marked)
{
	size_t i = 0;

	if (marked) {
		engine->pruned = xreallocarray(engine->pruned, engine->npruned + 1, sizeof(*engine->pruned));
		engine->pruned[engine->npruned++] = run;
		return;
	}
	while (i < engine->npruned && engine->pruned[i] != run)
		i++;
	if (i < engine->npruned)
		engine->pruned[i] = engine->pruned[--engine->npruned];
}

bool engine_needs_evidence(const struct engine *engine, const char *id)
{
	const struct run *run;
	bool needs = !TAILQ_EMPTY(&engine->reading) || !TAILQ_EMPTY(&engine->submits) ||
	    !TAILQ_EMPTY(&engine->deciding);

	LIST_FOREACH(run, &engine->runs, entry)
		needs = needs || text_equal(run->rows->run.evidence, id);
	return needs;
}
