/* SPDX-License-Identifier: MIT */
/* Agents that have said all and do not exit, and agents that print and get no further: their output
 * is looked at while they run, and when the final result is in it, their shim is told that they may
 * go. It ends them in its own time (limits.post_result). When nothing in it has been progress for
 * the idle limit, the shim is told to end them: it knows bytes alone, and keeps that limit while no
 * daemon runs. Nothing of that is recorded here: what was read can be read again, so a daemon that
 * starts in the middle looks once more, and telling a shim twice is telling it once. */
#include "slot/result_watch.h"

#include "agent/agent.h"
#include "base/log.h"
#include "core/clocks.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/state.h"
#include "job/read_result.h"
#include "model/activity.h"
#include "model/job.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"

#define LOOK_EVERY_MS 1000

/* By key: run and slot may be gone since it was asked for. */
static void result_cb(void *arg, struct job *job)
{
	struct engine *engine = arg;
	struct result_job *w = (struct result_job *)job;
	struct run *run = run_find(engine, w->run);
	struct slot *slot = run != NULL ? run_slot(run, w->iteration, w->slot) : NULL;
	bool runs = !engine->stopped && slot != NULL && slot->activity.kind == ACTIVITY_ATTEMPT &&
	    slot->activity.id == w->attempt && !slot_ending(slot);

	if (!runs) {
		job_free(job);
		return;
	}
	if (w->over) {
		log_debug("run %lld: attempt %lld has given its result", (long long)w->run, (long long)w->attempt);
		engine->ports.wind_up(engine->ports.proc_ctx, w->attempt);
	}
	if (w->stalled && !w->over)
		engine->ports.stalled(engine->ports.proc_ctx, w->attempt);
	/* it may take up another txn, and give another result */
	engine_job_later(engine, LOOK_EVERY_MS, job, &read_result_type, result_cb, engine);
}

void result_watch(struct slot *slot)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	const struct plan *plan = slot_plan(slot);
	enum reader_kind reader = plan_agent(plan, (enum role)a->role, a->agent)->reader;
	const struct clocks *clocks = &plan->clocks[a->role];
	struct result_job *w;

	if (a->role == ROLE_CHECK || !reader_can_tell(reader) ||
	    (clocks->ms[CLOCK_POST_RESULT] == 0 && clocks->ms[CLOCK_IDLE] == 0))
		return;
	w = xcalloc(1, sizeof(*w));
	w->run = slot->row->run;
	w->iteration = slot->row->iteration;
	w->slot = slot->row->slot;
	w->attempt = a->id;
	w->reader = reader;
	w->idle_ms = clocks->ms[CLOCK_IDLE];
	engine_job_later(slot->run->engine, LOOK_EVERY_MS, &w->job, &read_result_type, result_cb, slot->run->engine);
}
