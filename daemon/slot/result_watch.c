/* SPDX-License-Identifier: MIT */
/* Watches running agents for a final result and for progress. When the output contains the final
 * result, the shim is told and ends the agent after limits.post_result. When there was no progress
 * for the idle limit, the shim is told to end the agent: it knows only bytes, and applies that
 * limit itself while no daemon runs. Nothing of this is recorded: the output can be read again
 * after a start, and telling a shim twice has no further effect. */
#include "slot/result_watch.h"

#include "agent/agent.h"
#include "base/log.h"
#include "core/clocks.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "job/read_result.h"
#include "model/activity.h"
#include "model/job.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"

#define LOOK_EVERY_MS 1000

/* By key: run and slot may be gone by now. */
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
		log_about(LOG_LEVEL_DEBUG, w->run, w->attempt, "run %lld: attempt %lld has given its result",
		    (long long)w->run, (long long)w->attempt);
		engine->ports.wind_up(engine->ports.proc_ctx, w->attempt);
	}
	if (w->stalled && !w->over)
		engine->ports.stalled(engine->ports.proc_ctx, w->attempt);
	/* it may begin another turn, and give another result */
	engine_job_later(engine, LOOK_EVERY_MS, job, &read_result_type, result_cb, engine);
}

void result_watch(struct slot *slot)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	const struct plan *plan = slot_plan(slot);
	enum reader_kind reader = plan_agent(plan, (enum role)a->role, a->agent)->reader;
	const struct clocks *clocks = &plan->clocks[a->role];
	struct result_job *w;

	if (role_is_command((enum role)a->role) || !reader_can_tell(reader) ||
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
