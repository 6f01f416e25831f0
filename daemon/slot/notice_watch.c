/* SPDX-License-Identifier: MIT */
/* Watches running agents for refusals by their service: when the program reports that the account
 * is exhausted, or its key is invalid, the attempt is ended, which may be hours before the program
 * gives up or the idle limit applies. The decision is recorded as the attempt's provider result
 * before its shim is told: so a daemon that starts in between tells it again. */
#include "slot/notice_watch.h"

#include "agent/notice.h"
#include "base/log.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "job/provider_result.h"
#include "job/read_notice.h"
#include "model/activity.h"
#include "model/job.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "txn/txn.h"

#define LOOK_EVERY_MS 5000

static void decide(struct slot *slot, enum provider_result provider)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->activity.id);
	struct txn *txn = txn_new(slot->run->engine);

	log_about(LOG_LEVEL_INFO, a->run, a->id, "run %lld: ending attempt %lld, because its service refuses it: %s",
	    (long long)a->run, (long long)a->id, state_name(&provider_result_names, (int)provider));
	txn_edit_attempt(txn, a)->provider = (int)provider;
	txn_effect(txn, EFFECT_END, slot->run, slot, a->id);
	txn_commit(txn);
}

/* By key: run and slot may be gone by now. */
static void notice_cb(void *arg, struct job *job)
{
	struct engine *engine = arg;
	struct notice_job *w = (struct notice_job *)job;
	struct run *run = run_find(engine, w->run);
	struct slot *slot = run != NULL ? run_slot(run, w->iteration, w->slot) : NULL;
	bool runs = !engine->stopped && slot != NULL && slot->activity.kind == ACTIVITY_ATTEMPT &&
	    slot->activity.id == w->attempt && !slot_ending(slot);

	if (runs && w->decided == PROVIDER_NONE) {
		engine_job_later(engine, LOOK_EVERY_MS, job, &read_notice_type, notice_cb, engine);
		return;
	}
	if (runs)
		decide(slot, w->decided);
	job_free(job);
}

void notice_watch(struct slot *slot)
{
	struct engine *engine = slot->run->engine;
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	const struct agent_plan *agent = plan_agent(slot_plan(slot), (enum role)a->role, a->agent);
	struct notice_job *w;

	if (a->provider != PROVIDER_NONE) {
		engine->ports.end(engine->ports.proc_ctx, a->id);
		return;
	}
	if (role_is_command((enum role)a->role) || !notice_can_tell(agent->reader))
		return;
	w = xcalloc(1, sizeof(*w));
	w->run = slot->row->run;
	w->iteration = slot->row->iteration;
	w->slot = slot->row->slot;
	w->attempt = a->id;
	w->reader = agent->reader;
	w->zone = ending_zone(slot_plan(slot), agent);
	notice_init(&w->notice);
	engine_job_later(engine, LOOK_EVERY_MS, &w->job, &read_notice_type, notice_cb, engine);
}
