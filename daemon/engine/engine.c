/* SPDX-License-Identifier: MIT */
#include "engine/engine.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/log.h"
#include "core/cause.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/run.h"
#include "core/schedule.h"
#include "core/state.h"
#include "engine/effects.h"
#include "engine/recover.h"
#include "engine/start.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/ports.h"
#include "model/reply.h"
#include "model/runs.h"
#include "model/evidence_read.h"
#include "model/judge_read.h"
#include "model/text_read.h"
#include "model/slots.h"
#include "model/view.h"
#include "proc/launch.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "run/file_queue.h"
#include "run/lifecycle.h"
#include "run/operation_result.h"
#include "run/run_refusal.h"
#include "run/submission.h"
#include "sched/accounts.h"
#include "sched/claims.h"
#include "sched/groups.h"
#include "sched/launcher_slots.h"
#include "sched/permits.h"
#include "slot/attempt_report.h"
#include "slot/hooks.h"
#include "slot/stages.h"
#include "slot/operation.h"
#include "txn/txn.h"

struct engine *engine_new(const struct ports *ports, const struct engine_options *options,
    engine_committed_cb *committed, void *arg)
{
	struct engine *engine = xcalloc(1, sizeof(*engine));

	engine->ports = *ports;
	engine->calls = &effects_calls;
	engine->stages = slot_stages;
	engine->operation = &operation_results;
	engine->intake = submit_intake;
	engine->state_dir = xstrdup(options->state_dir);
	engine->config_dir = xstrdup(options->config_dir);
	engine->instance = xstrdup(options->instance);
	engine->socket = xstrdup(options->socket);
	engine->shim = xstrdup(options->shim);
	engine->rl_git = xstrdup(options->rl_git);
	engine->parallel = options->parallel;
	engine->committed = committed;
	engine->arg = arg;
	engine->view = view_new();
	engine->schedule = schedule_new(options->parallel);
	engine->claims = claims_new();
	engine->groups = groups_new();
	engine->accounts = accounts_new();
	engine->recovering = true;
	LIST_INIT(&engine->runs);
	RB_INIT(&engine->runs_by_id);
	RB_INIT(&engine->runs_by_after);
	LIST_INIT(&engine->begun);
	RB_INIT(&engine->environments);
	TAILQ_INIT(&engine->reading);
	TAILQ_INIT(&engine->submits);
	TAILQ_INIT(&engine->deciding);
	TAILQ_INIT(&engine->file_queue);
	LIST_INIT(&engine->hooks);
	LIST_INIT(&engine->text_reads);
	LIST_INIT(&engine->judge_reads);
	LIST_INIT(&engine->evidence_reads);
	return engine;
}

/* Answer submits that are not being processed yet. */
static void refuse_submits(struct engine *engine)
{
	struct pending_submit *p;

	while ((p = TAILQ_FIRST(&engine->submits)) != NULL) {
		TAILQ_REMOVE(&engine->submits, p, entry);
		TAILQ_INSERT_TAIL(&engine->deciding, p, entry);
		submit_refused(p, RPC_UNAVAILABLE, "the daemon is stopping",
		    "retry once the daemon is running again", NULL);
	}
}

void engine_stop(struct engine *engine)
{
	engine->stopped = true;
	refuse_submits(engine);
	file_queue_stop(engine);
}

void engine_free(struct engine *engine)
{
	struct pending_submit *p;
	struct hook *hook;
	struct run *run;

	if (engine == NULL)
		return;
	while ((run = LIST_FIRST(&engine->runs)) != NULL)
		run_free(run);
	refuse_submits(engine);
	while ((p = TAILQ_FIRST(&engine->reading)) != NULL) {
		TAILQ_REMOVE(&engine->reading, p, entry);
		TAILQ_INSERT_TAIL(&engine->deciding, p, entry);
	}
	while ((p = TAILQ_FIRST(&engine->deciding)) != NULL)
		submit_refused(p, RPC_UNAVAILABLE, "the daemon is stopping",
		    "retry once the daemon is running again", NULL);
	file_queue_free(engine);
	while ((hook = LIST_FIRST(&engine->hooks)) != NULL) {
		LIST_REMOVE(hook, entry);
		hook_free(hook);
	}
	text_reads_release(engine);
	judge_reads_release(engine);
	evidence_reads_release(engine);
	view_free(engine->view);
	schedule_free(engine->schedule);
	claims_free(engine->claims);
	groups_free(engine->groups);
	accounts_free(engine->accounts);
	launcher_slots_free(engine);
	free(engine->deferred);
	free(engine->pruned);
	free(engine->state_dir);
	free(engine->shim);
	free(engine->rl_git);
	free(engine->config_dir);
	free(engine->instance);
	free(engine->socket);
	free(engine);
}

const struct view *engine_view(const struct engine *engine)
{
	return engine->view;
}

const struct plan *engine_plan(struct engine *engine, int64_t id)
{
	const struct run *run = run_find(engine, id);

	return run != NULL ? &run->plan : NULL;
}

void engine_set_full(struct engine *engine, bool full)
{
	engine->full = full;
}

void engine_set_parallel(struct engine *engine, int64_t parallel)
{
	engine->parallel = parallel;
	schedule_set_slots(engine->schedule, parallel);
	engine_schedule(engine);
}

void engine_drain(struct engine *engine)
{
	struct run *run;

	engine->draining = true;
	/* a pause between iterations ends in the next daemon */
	LIST_FOREACH(run, &engine->runs, entry)
		if (run->rows->run.next_at != ROW_NONE && run->own.activity.kind == ACTIVITY_JOB)
			activity_end(&run->own.activity);
	LIST_FOREACH(run, &engine->runs, entry)
		schedule_tell(engine->schedule, run->rows->run.id);
	engine_schedule(engine);
}

bool engine_draining(const struct engine *engine)
{
	return engine->draining;
}

bool engine_reason(struct engine *engine, int64_t run, enum wait_kind *kind, char **text)
{
	return permits_reason(engine, run, kind, text);
}

size_t engine_busy(const struct engine *engine)
{
	size_t busy = engine->commits;
	struct run *run;
	struct hook *hook;

	LIST_FOREACH(hook, &engine->hooks, entry)
		busy++;
	LIST_FOREACH(run, &engine->begun, begun)
		busy += run_is_active(run);
	if (!TAILQ_EMPTY(&engine->reading) || !TAILQ_EMPTY(&engine->submits) || !TAILQ_EMPTY(&engine->deciding))
		busy++;
	return busy + (engine->file_queue_busy || !TAILQ_EMPTY(&engine->file_queue));
}

size_t engine_running(const struct engine *engine)
{
	return view_running(engine->view);
}

void engine_cancel(struct engine *engine, int64_t id, const char *by, bool check, engine_reply_cb *cb, void *arg)
{
	struct run *run = run_find(engine, id);
	struct engine_reply reply = { .id = id, .rows = view_run(engine->view, id) };
	struct txn *txn;
	char *cause;

	reply.code = run_refuse(engine, run, &reply);
	if (reply.code != RPC_OK || check) {
		cb(arg, &reply);
		return;
	}
	/* also if an earlier cancel is still being recorded: answer after it */
	txn = txn_new(engine);
	if (!run_cancelling(run) && !run_state_is_end((enum run_state)run->rows->run.state)) {
		cause = xasprintf("cancelled by %s", by);
		run_cancel(txn, run, CAUSE(END_CANCELLED, cause));
		free(cause);
	}
	txn_reply(txn, cb, arg, id);
	txn_commit(txn);
}

static bool is_ending(const struct run *run)
{
	return run_cancelling(run) || run_state_is_end((enum run_state)run->rows->run.state);
}

void engine_pause(struct engine *engine, int64_t id, const char *by, bool check, engine_reply_cb *cb, void *arg)
{
	struct run *run = run_find(engine, id);
	struct engine_reply reply = { .id = id, .rows = view_run(engine->view, id) };
	struct txn *txn;
	char *cause;

	reply.code = run_refuse(engine, run, &reply);
	if (reply.code == RPC_OK && (is_ending(run) || run->rows->run.paused == 1)) {
		reply.code = RPC_WRONG_STATE;
		reply.message = is_ending(run) ? "the run is ending" : "the run is already paused";
		reply.hint = is_ending(run) ? "see rlctl show for its state" : "rlctl resume continues it";
	}
	if (reply.code != RPC_OK || check) {
		cb(arg, &reply);
		return;
	}
	txn = txn_new(engine);
	cause = xasprintf("paused by %s", by);
	txn_edit_run(txn, run)->paused = 1;
	if (run->rows->run.state == RUN_S_RUNNING) {
		run_event(txn, run, RUN_E_PAUSE, CAUSE(END_NONE, cause));
	} else {
		queue_update(run);
		queue_note(txn, run);
		txn_effect_schedule(txn);
	}
	free(cause);
	txn_reply(txn, cb, arg, id);
	txn_commit(txn);
}

void engine_unpause(struct engine *engine, int64_t id, const char *by, bool check, engine_reply_cb *cb, void *arg)
{
	struct run *run = run_find(engine, id);
	struct engine_reply reply = { .id = id, .rows = view_run(engine->view, id) };
	struct txn *txn;

	reply.code = run_refuse(engine, run, &reply);
	if (reply.code == RPC_OK && (is_ending(run) || run->rows->run.paused != 1)) {
		reply.code = RPC_WRONG_STATE;
		reply.message = is_ending(run) ? "the run is ending" : "the run is not paused";
		reply.hint = "a held run needs a decision: rlctl hold list";
	}
	if (reply.code != RPC_OK || check) {
		cb(arg, &reply);
		return;
	}
	txn = txn_new(engine);
	log_about(LOG_LEVEL_DEBUG, id, 0, "run %lld resumed by %s", (long long)id, by);
	txn_edit_run(txn, run)->paused = 0;
	if (run->rows->run.state == RUN_S_PAUSED)
		run_event(txn, run, RUN_E_UNPAUSE, NO_CAUSE);
	queue_update(run);
	queue_note(txn, run);
	start_next(txn, engine);
	txn_reply(txn, cb, arg, id);
	txn_commit(txn);
}

/* Reports of the proc port */

static struct slot *slot_of_report(struct engine *engine, int64_t id, const char *what)
{
	struct slot *slot = engine->stopped ? NULL : engine_slot_of(engine, id);

	if (slot == NULL && !engine->stopped)
		log_bug("attempt or step %lld %s, but nothing waits for it", (long long)id, what);
	return slot;
}

static void keep_found(struct slot *slot, enum proc_found what, const struct exit_record *record, const char *detail)
{
	slot->found = what;
	if (record != NULL)
		slot->record = *record;
	text_set(&slot->lost_detail, detail);
}

static void started(void *arg, int64_t id)
{
	struct slot *slot = hook_find(arg, id) == NULL ? slot_of_report(arg, id, "started") : NULL;

	if (slot != NULL && slot->activity.kind == ACTIVITY_ATTEMPT)
		attempt_started(slot);
}

static void refused(void *arg, int64_t id, int status, const char *error)
{
	struct engine *engine = arg;
	struct hook *hook = hook_find(engine, id);
	struct slot *slot;

	if (hook != NULL) {
		hook_ended(engine, hook, NULL, status, error);
		return;
	}
	slot = slot_of_report(engine, id, "was refused");
	if (slot == NULL)
		return;
	if (slot->activity.kind == ACTIVITY_OPERATION)
		step_refused(slot, status, error);
	else
		attempt_refused(slot, status, error);
}

/* Numbers are never reused, but a directory may have been planted for a future one. */
static void taken(void *arg, int64_t id, int64_t vacant)
{
	struct engine *engine = arg;
	struct hook *hook = hook_find(engine, id);
	struct slot *slot = hook == NULL ? slot_of_report(engine, id, "has no directory") : NULL;

	if (engine->stopped || (hook == NULL && slot == NULL))
		return;
	if (engine->last_attempt < vacant - 1)
		engine->last_attempt = vacant - 1;
	log_warn("attempts/%lld exists already and is skipped; the next number is %lld",
	    (long long)id, (long long)engine->last_attempt + 1);
	if (hook != NULL)
		hook_renumber(engine, hook);
	else if (slot->activity.kind == ACTIVITY_OPERATION)
		step_renumber(slot);
	else
		attempt_renumber(slot);
}

static void ended(void *arg, int64_t id, const struct exit_record *record)
{
	struct engine *engine = arg;
	struct hook *hook = hook_find(engine, id);
	struct slot *slot;

	if (hook != NULL) {
		hook_ended(engine, hook, record, 0, "its shim was killed");
		return;
	}
	slot = slot_of_report(engine, id, "ended");
	if (slot == NULL)
		return;
	if (engine->recovering) {
		/* found running, and ended before all others were found: no effects before that */
		keep_found(slot, record != NULL ? FOUND_ENDED : FOUND_LOST, record,
		    "its shim was killed");
		return;
	}
	if (slot->activity.kind == ACTIVITY_OPERATION)
		step_ended(slot, record);
	else
		attempt_ended(slot, record, "its shim was killed");
}

static void found(void *arg, int64_t id, enum proc_found what, const struct exit_record *record, const char *detail)
{
	struct engine *engine = arg;
	struct hook *hook = hook_find(engine, id);
	struct slot *slot = hook == NULL ? slot_of_report(engine, id, "was found") : NULL;

	if (hook != NULL)
		hook_found(hook, what, record);
	else if (slot != NULL)
		keep_found(slot, what, record, detail);
	else
		return;
	if (--engine->adopting == 0 && !engine->stopped)
		engine_resume(engine);
}

const struct proc_sink engine_proc_sink = {
	.started = started,
	.refused = refused,
	.taken = taken,
	.ended = ended,
	.found = found,
};
