/* SPDX-License-Identifier: MIT */
#include "run/lifecycle.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/cause.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/run.h"
#include "core/schedule.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/dirs.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/kinds.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "run/file_queue.h"
#include "run/loop.h"
#include "run/submission.h"
#include "sched/claims.h"
#include "sched/permits.h"
#include "sched/spending.h"
#include "slot/agent_pick.h"
#include "slot/hold.h"
#include "slot/hooks.h"
#include "slot/machine.h"
#include "slot/shared_paths.h"
#include "slot/wait.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* The review file in the user's own tree, malloc'd; NULL: none was created by the run. */
static char *leftover_of(const struct run *run)
{
	bool reviewed = false;

	for (size_t i = 0; i < run->rows->nattempts; i++)
		reviewed |= run->rows->attempts[i]->role == ROLE_REVIEW;
	if (!reviewed || run->plan.isolation == ISOLATION_WORKTREE || !run->plan.review ||
	    run->plan.profile->carrier != CARRIER_COMMENTS)
		return NULL;
	return xasprintf("%s/%s", run->rows->run.workdir, run->plan.review_file);
}

void run_cleanup(struct run *run)
{
	struct engine *engine = run->engine;
	const struct run_row *row = &run->rows->run;
	struct litter litter = {
		.run = row->id,
		.evidence = row->evidence != NULL ? dirs_evidence(engine->state_dir, row->evidence) : NULL,
		.environment = xstrdup(row->environment),
		.leftover = leftover_of(run),
	};

	view_remove(engine->view, litter.run);
	schedule_remove(engine->schedule, litter.run);
	run_free(run);
	file_queue_cleanup(engine, litter);
	/* thousands may have been queued */
	if (LIST_EMPTY(&engine->runs))
		memory_give_back();
}

/* End the tasks that wait for the review of the run. Returns false if there are none. */
static bool end_implemented(struct txn *txn, struct run *run, enum slot_stage to, struct cause cause)
{
	bool any = false;

	for (size_t i = 0; i < run->nslots; i++) {
		if (run->slots[i]->row->stage != SLOT_S_IMPLEMENTED)
			continue;
		slot_move(txn, run->slots[i], SLOT_S_IMPLEMENTED, to, &(struct move_why){ .cause = cause });
		any = true;
	}
	return any;
}

/* Slot 0 has passed or failed, and these tasks with it: even if a cancel comes before its teardown
 * is done. */
static void follow_review(struct txn *txn, struct run *run)
{
	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot_row *slot_row = run->slots[i]->row;

		if (slot_row->slot != 0)
			continue;
		if (slot_row->stage == SLOT_S_PASSED)
			end_implemented(txn, run, SLOT_S_PASSED, slot_cause(slot_row));
		else if (slot_row->stage == SLOT_S_FAILED)
			end_implemented(txn, run, SLOT_S_FAILED, slot_cause(slot_row));
	}
}

/* Result of the run: answer, tree and ref of its last passed slot. */
static void take_result(const struct run *run, struct run_row *row)
{
	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot_row *slot_row = run->slots[i]->row;

		if (slot_row->stage != SLOT_S_PASSED || slot_row_is_beside(slot_row))
			continue;
		row->result_attempt = slot_row->answer != ROW_NONE ? slot_row->answer : slot_row->earlier_answer;
		if (slot_row->slot == 0)
			return;
	}
}

/* The run no longer waits for the next iteration, nor for what delayed that. */
static void rest_over(struct txn *txn, struct run *run)
{
	if (run->own.activity.kind == ACTIVITY_RETRY) {
		activity_end(&run->own.activity);
		slot_wait_over(txn, &run->own);
	}
	if (run->rows->run.next_at == ROW_NONE)
		return;
	txn_edit_run(txn, run)->next_at = ROW_NONE;
	if (run->own.activity.kind == ACTIVITY_JOB)
		activity_end(&run->own.activity);
}

/* The run has ended: cancel runs that wait for its success, unless it succeeded; including those
 * still being recorded. */
static void end_dependants(struct txn *txn, struct run *run)
{
	const struct run_row *row = &run->rows->run;
	struct pending_submit *p;
	struct run *other = NULL;
	char *cause;

	if (row->state == RUN_S_SUCCEEDED)
		return;
	cause = xasprintf("run %lld, which must succeed first, %s", (long long)row->id,
	    row->state == RUN_S_FAILED ? "failed" : "was cancelled");
	while ((other = run_after(run, other)) != NULL)
		if (!run_state_is_end((enum run_state)other->rows->run.state) && !run_cancelling(other))
			run_cancel(txn, other, CAUSE(END_AFTER, cause));
	/* a run still being recorded is cancelled afterwards; the intention is recorded first */
	TAILQ_FOREACH(p, &run->engine->deciding, entry) {
		if (p->row == NULL || p->row->after_run != row->id || p->row->end_kind != END_NONE)
			continue;
		run_set_cause(p->row, CAUSE(END_AFTER, cause));
		txn_put(txn, ROW_RUN, p->row);
	}
	free(cause);
}

/* ---- the actions of the run machine: what the row of the run says of the new state, and what
 * rests on it ---- */

static void prepare(struct txn *txn, struct run *run, struct cause cause)
{
	struct run_row *row = txn_edit_run(txn, run);

	(void)cause;
	row->started_at = engine_now(run->engine);
	run_begin(run);
	run_set_reason(row, REASON(WAIT_PREPARING, "preparing"));
	txn_effect(txn, EFFECT_PREPARE, run, &run->own, ROW_NONE);
	run_meet(txn, run);
	budget_watch(run);
}

static void load(struct txn *txn, struct run *run, struct cause cause)
{
	struct run_row *row = txn_edit_run(txn, run);

	(void)cause;
	if (run_iteration_is_over(run) && run_finish_iteration(txn, run))
		row->next_at = run->plan.pause_ms > 0 ? engine_now(run->engine) + run->plan.pause_ms : ROW_NONE;
	if (row->next_at != ROW_NONE)
		run_set_reason(row, REASON(WAIT_PAUSE, "pausing between iterations"));
	txn_effect(txn, EFFECT_LOAD, run, &run->own, ROW_NONE);
}

static void begin(struct txn *txn, struct run *run, struct cause cause)
{
	(void)cause;
	run_begin_tasks(txn, run);
}

static void end(struct txn *txn, struct run *run, struct cause cause)
{
	struct run_row *row = txn_edit_run(txn, run);

	run_set_reason(row, REASON(WAIT_CANCELLING, "cancelling"));
	rest_over(txn, run);
	run_set_cause(row, cause);
}

static void end_slots(struct txn *txn, struct run *run)
{
	struct slot *own = &run->own;

	if (activity_has_process(&own->activity))
		txn_effect(txn, EFFECT_END, run, own, own->activity.id);
	follow_review(txn, run);
	/* a check that cannot be started on the base has ended them before */
	for (size_t i = 0; i < run->nslots; i++)
		if (!slot_stage_is_end(slot_stage(run->slots[i])) && slot_stage(run->slots[i]) != SLOT_S_ENDING)
			slot_cancel(txn, run->slots[i]);
	for (size_t i = 0; i < run->nslots; i++)
		slot_wait_ends(run->slots[i]);
	if (run->nslots > 0)
		txn_touch(txn, run);
	else if (own->activity.kind == ACTIVITY_NONE)
		run_event(txn, run, RUN_E_CANCELLED, NO_CAUSE);
}

static void hold(struct txn *txn, struct run *run, struct cause cause)
{
	run_set_reason(txn_edit_run(txn, run), cause.text != NULL ? REASON(WAIT_DECISION, cause.text) : NO_REASON);
	queue_give(&run->own);
	txn_effect_schedule(txn);
	txn_effect(txn, EFFECT_REPORT, run, NULL, ROW_NONE);
	log_about(LOG_LEVEL_WARN, run->rows->run.id, 0, "run %lld held: %s", (long long)run->rows->run.id,
	    cause.text != NULL ? cause.text : "");
}

static void rework(struct txn *txn, struct run *run, struct cause cause)
{
	(void)cause;
	/* the scheduler reports a reason only for slots that want a permit */
	if (run->rows->run.paused == 1)
		run_set_reason(txn_edit_run(txn, run), REASON(WAIT_PAUSED, "paused"));
	txn_effect_schedule(txn);
}

/* The run has a permit again: continue reworked slots first, then paused ones. */
static void resume(struct txn *txn, struct run *run)
{
	bool has_permit = false;

	if (run->rows->run.iteration == 0) {
		/* it was paused before it started */
		if (run->own.activity.kind == ACTIVITY_NONE)
			txn_effect(txn, run_is_prepared(run) ? EFFECT_LOAD : EFFECT_PREPARE, run, &run->own, ROW_NONE);
		return;
	}
	hold_resume(txn, run);
	for (size_t i = 0; i < run->nslots; i++) {
		struct slot *slot = run->slots[i];

		if (slot->activity.kind != ACTIVITY_PERMIT || slot->has_permit)
			continue;
		if (!slot_is_baseline(slot) && !run->own.has_permit)
			continue;
		/* the baseline waited for the end of a pause, say */
		if (!slot_is_baseline(slot)) {
			run->own.has_permit = false;
			slot->has_permit = true;
		}
		slot_on_permit(txn, slot);
	}
	for (size_t i = 0; i < run->nslots; i++)
		has_permit |= run->slots[i]->has_permit;
	/* a slot that kept running during the pause has a permit already */
	if (has_permit)
		queue_give(&run->own);
	txn_touch(txn, run);
}

static void pause_run(struct txn *txn, struct run *run, struct cause cause)
{
	run_set_reason(txn_edit_run(txn, run), REASON(WAIT_PAUSED, cause.text));
	rest_over(txn, run);
	if (run->own.activity.kind == ACTIVITY_NONE)
		queue_give(&run->own);
	txn_effect_schedule(txn);
}

static void yield_permit(struct txn *txn, struct run *run, struct cause cause)
{
	(void)cause;
	queue_give(&run->own);
	txn_effect_schedule(txn);
}

static void finish(struct txn *txn, struct run *run, struct cause cause)
{
	struct run_row *row = txn_edit_run(txn, run);

	if (row->end_kind == END_NONE)
		run_set_cause(row, cause);
	row->ended_at = engine_now(run->engine);
	row->next_at = ROW_NONE;
	take_result(run, row);
	run_finish_tasks(txn, run);
	run_finish_iteration(txn, run);
	end_dependants(txn, run);
	hook_add_end(txn, run);
	txn_effect(txn, EFFECT_REPORT, run, NULL, ROW_NONE);
	txn_effect(txn, EFFECT_CLEANUP, run, NULL, ROW_NONE);
	txn_effect_schedule(txn);
	log_about(LOG_LEVEL_INFO, row->id, 0, "run %lld %s%s%s", (long long)row->id,
	    state_name(&run_state_names, row->state), row->cause != NULL ? ": " : "",
	    row->cause != NULL ? row->cause : "");
}

static const struct {
	void (*record)(struct txn *txn, struct run *run, struct cause cause);
	/* after the event of the new state was added to the decision */
	void (*follow)(struct txn *txn, struct run *run);
	bool keeps_reason;					/* the reason of the wait stays */
} actions[RUN_ACTIONS] = {
	[RUN_A_PREPARE] = { .record = prepare },
	[RUN_A_LOAD] = { .record = load },
	[RUN_A_BEGIN] = { .record = begin },
	[RUN_A_END] = { .record = end, .follow = end_slots },
	[RUN_A_HOLD] = { .record = hold },
	[RUN_A_REVIEW] = { .follow = run_begin_review },
	[RUN_A_REWORK] = { .record = rework },
	[RUN_A_RESUME] = { .follow = resume },
	[RUN_A_PAUSE] = { .record = pause_run },
	[RUN_A_YIELD] = { .record = yield_permit, .keeps_reason = true },
	[RUN_A_NONE] = { 0 },
	[RUN_A_FINISH] = { .record = finish },
};

void run_event(struct txn *txn, struct run *run, enum run_event event, struct cause cause)
{
	struct run_row *row = txn_edit_run(txn, run);
	const struct run_edge *edge = run_step((enum run_state)row->state, event);

	if (edge == NULL) {
		log_bug("run %lld: event %s is unexpected in state %s", (long long)row->id, run_event_name(event),
		    state_name(&run_state_names, row->state));
		return;
	}
	log_about(LOG_LEVEL_DEBUG, row->id, 0, "run %lld: %s in %s leads to %s", (long long)row->id,
	    run_event_name(event), state_name(&run_state_names, row->state),
	    state_name(&run_state_names, (int)edge->next));
	row->state = (int)edge->next;
	if (!actions[edge->action].keeps_reason)
		run_set_reason(row, NO_REASON);
	if (actions[edge->action].record != NULL)
		actions[edge->action].record(txn, run, cause);
	run_emit_state(txn, run);
	if (actions[edge->action].follow != NULL)
		actions[edge->action].follow(txn, run);
	queue_update(run);
	queue_note(txn, run);
}

void run_cancel(struct txn *txn, struct run *run, struct cause cause)
{
	bool begun = run->rows->run.state == RUN_S_QUEUED &&
	    (run->nslots > 0 || run->own.activity.kind != ACTIVITY_NONE);

	run_event(txn, run, begun ? RUN_E_CANCEL_BEGUN : RUN_E_CANCEL, cause);
}

/* Implemented tasks fail with the run, because they will not be reviewed. Returns false if there
 * are none. */
static bool fail_implemented(struct txn *txn, struct run *run, struct cause cause)
{
	char *text = cause.text != NULL ? xasprintf("not reviewed: %s", cause.text) : NULL;
	bool any = end_implemented(txn, run, SLOT_S_FAILED, text != NULL ? CAUSE(END_NOT_REVIEWED, text) : NO_CAUSE);

	free(text);
	return any;
}

/* Whether the cause tells more than that the run failed because of another task. */
static bool is_own(struct cause cause)
{
	return cause.kind != END_NONE && cause.kind != END_NOT_REVIEWED && cause.kind != END_PARTIAL;
}

/* Cause of the first slot in that stage, of any iteration: preferably one of its own; none if there
 * is no such slot, or no cause. Not of the baseline, which fails for itself. */
static struct cause cause_of(const struct run *run, enum slot_stage stage)
{
	struct cause other = NO_CAUSE;

	for (size_t i = 0; i < run->rows->nslots; i++) {
		struct cause cause = slot_cause(run->rows->slots[i]);

		if (run->rows->slots[i]->stage != (int)stage || slot_row_is_beside(run->rows->slots[i]))
			continue;
		if (is_own(cause))
			return cause;
		if (other.kind == END_NONE)
			other = cause;
	}
	return other;
}

/* Reason of a task that ended in that state, perhaps in an earlier iteration: why it failed, or who
 * accepted it. */
static struct cause reason_of(const struct run *run, enum task_state state)
{
	for (size_t i = 0; i < run->rows->ntasks; i++)
		if (run->rows->tasks[i]->state == (int)state && is_own(task_cause(run->rows->tasks[i])))
			return task_cause(run->rows->tasks[i]);
	return NO_CAUSE;
}

/* Why the run ends this way or is held. */
static struct cause why(const struct run *run, enum run_event event)
{
	static const struct {
		enum run_event event;
		enum slot_stage stage;
		enum task_state task;
	} ends[] = {
		{ RUN_E_HELD, SLOT_S_HELD, TASK_S_CLAIMED }, { RUN_E_FAILED, SLOT_S_FAILED,
		    TASK_S_FAILED }, { RUN_E_PASSED, SLOT_S_PASSED, TASK_S_PASSED },
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct cause cause, reason;

		if (ends[i].event != event)
			continue;
		cause = cause_of(run, ends[i].stage);
		reason = is_own(cause) ? NO_CAUSE : reason_of(run, ends[i].task);
		return reason.kind != END_NONE ? reason : cause;
	}
	return NO_CAUSE;
}

/* A slot that has not started will not start any more when the run stops: its task is released. */
static void let_go(struct txn *txn, struct run *run)
{
	char spent[RUN_SPENT_MAX];
	bool stop = run->rows->run.stopped == 1 ||
	    (run->plan.on_failure == ON_FAILURE_STOP && why(run, RUN_E_FAILED).kind != END_NONE);

	run_spent(run, spent);
	stop |= spent[0] != '\0';

	for (size_t i = 0; stop && i < run->nslots; i++) {
		struct slot *slot = run->slots[i];
		const struct task_row *task = slot_task(slot);

		if (slot->row->stage != SLOT_S_WAITING ||
		    (slot->activity.kind != ACTIVITY_PERMIT && slot->activity.kind != ACTIVITY_PICK))
			continue;
		if (task != NULL) {
			txn_edit_task(txn, task)->state = TASK_S_OPEN;
			run_claim(txn, run, task->id, CLAIM_S_FREE);
		}
		slot_set_reason(txn_edit_slot(txn, slot),
		    REASON(WAIT_UNASSIGNED, "not started: the run starts nothing any more"));
		txn_set_task(txn, slot, NULL);
		slot_move(txn, slot, SLOT_S_WAITING, SLOT_S_PASSED, NULL);
	}
	if (stop)
		queue_update(run);
}

/* One that checks the base, or has a reviewer; NULL: they have ended, or there are none. */
static struct slot *working_beside(const struct run *run)
{
	for (size_t i = 0; i < run->nslots; i++)
		if (slot_is_beside(run->slots[i]) && (!slot_stage_is_end(slot_stage(run->slots[i])) ||
		    run->slots[i]->row->leaving != LEAVING_NOTHING))
			return run->slots[i];
	return NULL;
}

/* A check cannot be started on the base: no work can change that, so none is paid for any more. */
static void end_for_base(struct txn *txn, struct run *run)
{
	for (size_t i = 0; run_base_failed(run) && !run_cancelling(run) && i < run->nslots; i++) {
		enum slot_stage stage = slot_stage(run->slots[i]);

		if (slot_stage_is_end(stage) || stage == SLOT_S_ENDING)
			continue;
		rest_over(txn, run);
		slot_cancel(txn, run->slots[i]);
	}
}

/* The run ends: what is not known of its base by now is of no use, and no voter is needed. Returns
 * whether there is something to wait for. */
static bool end_beside(struct txn *txn, struct run *run)
{
	for (size_t i = 0; i < run->nslots; i++)
		if (slot_is_beside(run->slots[i]) && !slot_stage_is_end(slot_stage(run->slots[i])) &&
		    slot_stage(run->slots[i]) != SLOT_S_ENDING)
			slot_cancel(txn, run->slots[i]);
	return working_beside(run) != NULL;
}

static bool is_end(enum run_event event)
{
	return event == RUN_E_PASSED || event == RUN_E_FAILED || event == RUN_E_CANCELLED;
}

/* A slot works: nothing is decided about the run as a whole. */
static bool waits(enum run_event event)
{
	return event == RUN_EVENTS || event == RUN_E_ROLL;
}

static bool goes_on(enum run_event event)
{
	return event == RUN_E_HELD || event == RUN_E_NEXT || event == RUN_E_ROLL || event == RUN_E_REVIEW;
}

void run_reconcile(struct txn *txn, struct run *run)
{
	enum run_state state = (enum run_state)run->rows->run.state;
	const struct slot_row **slots;
	struct loop loop;
	enum run_event event;
	enum end_kind kind;
	struct cause cause;
	char *limit;

	if (run_state_is_end(state))
		return;
	end_for_base(txn, run);
	let_go(txn, run);
	if (run->plan.assign == ASSIGN_AGENT)
		pick_stage(txn, run);
	follow_review(txn, run);
	loop = run_loop(run, &slots);
	event = run_settle(&loop);
	if (!waits(event) && ((event != RUN_E_HELD && run_gave_up(run)) || run_base_failed(run)))
		event = RUN_E_FAILED;
	if (!waits(event) && run_cancelling(run))
		event = RUN_E_CANCELLED;
	/* when a run has ended, nothing of it is left behind */
	if (is_end(event) && run_deletes(&loop))
		event = RUN_EVENTS;
	/* continuing needs a permit, which a decision does not bring with it */
	if ((event == RUN_E_NEXT || event == RUN_E_REVIEW) && !run->own.has_permit &&
	    (state == RUN_S_HELD || state == RUN_S_RUNNING))
		event = RUN_E_REWORK;
	/* queued, paused or held: only an end counts now, the rest is evaluated when the run
	 * continues */
	if (event == RUN_EVENTS || activity_has_begun(&run->own.activity) ||
	    (event == RUN_E_ROLL && (run_cancelling(run) || run->engine->draining)) ||
	    (state != RUN_S_RUNNING && goes_on(event))) {
		free(slots);
		queue_yield(txn, run);
		return;
	}
	if (is_end(event) && end_beside(txn, run)) {
		free(slots);
		return;
	}
	limit = run_limit_cause(&loop, event, &kind);
	free(slots);
	cause = run_base_failed(run) ? slot_cause(run_baseline(run)) :
	    run->failure != NULL ? CAUSE(run->failure_kind, run->failure) : limit != NULL ?
	    CAUSE(kind, limit) : why(run, event);
	/* they may still be in teardown, and have touched the run */
	if (event != RUN_E_FAILED || !fail_implemented(txn, run, cause))
		run_event(txn, run, event, cause);
	free(limit);
}

void run_failed(struct txn *txn, struct run *run, struct cause cause)
{
	if (run->nslots == 0) {
		run_event(txn, run, RUN_E_FAILED, cause);
		return;
	}
	text_set(&run->failure, cause.text);
	run->failure_kind = cause.kind;
	txn_touch(txn, run);
}
