/* SPDX-License-Identifier: MIT */
/* At start: the rows of unfinished runs become working rows again; the proc port inspects every
 * unfinished attempt and step before any effect is carried out; then each slot continues from its
 * stage. */
#include "engine/recover.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "config/setting.h"
#include "core/cause.h"
#include "core/row.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "engine/effects.h"
#include "engine/engine.h"
#include "engine/start.h"
#include "git/git_op.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proc/launch.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "record/exit_record.h"
#include "run/file_queue.h"
#include "run/lifecycle.h"
#include "run/preparation.h"
#include "run/publication.h"
#include "run/task_load.h"
#include "sched/accounts.h"
#include "sched/check_permits.h"
#include "sched/claims.h"
#include "sched/groups.h"
#include "sched/permits.h"
#include "sched/spending.h"
#include "slot/activity_check.h"
#include "slot/agent_pick.h"
#include "slot/attempt_report.h"
#include "slot/attempt_start.h"
#include "slot/git_request.h"
#include "slot/hooks.h"
#include "slot/machine.h"
#include "slot/notice_watch.h"
#include "slot/operation.h"
#include "slot/result_watch.h"
#include "slot/turn.h"
#include "task/task_op.h"
#include "txn/txn.h"

void engine_load_counters(struct engine *engine, int64_t last_run, int64_t last_attempt, int64_t last_hold)
{
	engine->last_run = last_run;
	engine->last_hold = last_hold;
	engine->last_attempt = last_attempt;
}

void engine_load_row(struct engine *engine, enum row_kind kind, void *row)
{
	if (kind == ROW_HOOK)
		hook_load(engine, row);
	else if (kind == ROW_CLAIM)
		claims_load(engine->claims, row);
	else if (kind == ROW_GROUP)
		groups_load(engine, row);
	else if (kind == ROW_COOLDOWN)
		accounts_load_cooldown(engine, row);
	else if (kind == ROW_SPEND)
		accounts_load_spend(engine, row);
	else
		view_load(engine->view, kind, row);
}

static void adopt(struct engine *engine, struct slot *slot, int64_t id, const char *uuid, const char *boot_id)
{
	struct adopt a = { .id = id, .uuid = uuid, .boot_id = boot_id };

	if (slot->op.step != NULL)
		activity_start_operation(&slot->activity, id);
	else
		activity_start_attempt(&slot->activity, id);
	engine->adopting++;
	engine->ports.adopt(engine->ports.proc_ctx, &a);
}

static bool unfinished(int state)
{
	return state == ATTEMPT_S_STARTING || state == ATTEMPT_S_RUNNING;
}

/* Its attempt starts when the step has ended: slot/edits.h. */
static bool has_step(const struct run_rows *rows, const struct slot *slot)
{
	for (size_t i = 0; i < rows->nsteps; i++)
		if (unfinished(rows->steps[i]->state) && rows->steps[i]->slot == slot->row->slot &&
		    rows->steps[i]->iteration == slot->row->iteration)
			return true;
	return false;
}

static void adopt_run(struct engine *engine, struct run *run, const struct run_rows *rows)
{
	for (size_t i = 0; i < run->rows->nattempts; i++) {
		const struct attempt_row *a = run->rows->attempts[i];
		struct slot *slot = unfinished(a->state) ? run_slot_of(run, a) : NULL;

		if (slot != NULL && a->state == ATTEMPT_S_STARTING && has_step(rows, slot))
			continue;
		/* record the end of its cooling before it starts, so that even another reboot
		 * cannot lose it */
		if (slot != NULL && a->state == ATTEMPT_S_STARTING && slot_cools(slot->row))
			activity_wait(&slot->activity, ACTIVITY_ACCOUNT);
		else if (slot != NULL)
			adopt(engine, slot, a->id, a->uuid, a->boot_id);
	}
	for (size_t i = 0; i < rows->nsteps; i++) {
		const struct step_row *step = rows->steps[i];
		struct slot *slot = unfinished(step->state) ? run_slot(run, step->iteration, step->slot) : NULL;

		if (slot == NULL || slot->activity.kind != ACTIVITY_NONE)
			continue;
		slot->op.step = row_copy(ROW_STEP, step);
		adopt(engine, slot, step->id, step->uuid, step->boot_id);
	}
}

/* What is missing in rows that were edited or damaged. Continuing without it would start work that
 * has been paid for, or get stuck. NULL: nothing. Free it. */
static char *damage(const struct run *run)
{
	static const bool works[SLOT_STAGES] = {
		[SLOT_S_SETTING_UP] = true,
		[SLOT_S_IMPLEMENTING] = true, [SLOT_S_CHECKING] = true, [SLOT_S_REVIEWING] = true,
		[SLOT_S_FIXING] = true, [SLOT_S_COMMIT_AGENT] = true,
	};

	if (run->rows->run.group == NULL)
		return xstrdup("it has no group");
	for (size_t i = 0; i < run->rows->nattempts; i++) {
		const struct attempt_row *a = run->rows->attempts[i];

		if (a->agent == NULL)
			return xasprintf("attempt %lld has no agent", (long long)a->id);
	}
	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot_row *row = run->slots[i]->row;
		bool found = row->attempt == ROW_NONE;

		if (found && works[row->stage])
			return xasprintf("slot %lld has stage %s, but no attempt",
			    (long long)row->slot, state_name(&slot_stage_names, row->stage));
		for (size_t j = 0; !found && j < run->rows->nattempts; j++)
			found = run->rows->attempts[j]->id == row->attempt;
		if (!found)
			return xasprintf("slot %lld has attempt %lld, which does not exist",
			    (long long)row->slot, (long long)row->attempt);
	}
	return NULL;
}

void engine_recover(struct engine *engine)
{
	const struct run_rows *rows = NULL;
	struct txn *txn;
	char *what;

	/* held through the loop, so that a report cannot end the count early */
	engine->adopting = 1;
	while ((rows = view_next(engine->view, rows != NULL ? rows->run.id : 0)) != NULL) {
		struct run *run = run_new(engine, run_rows_copy(rows), NULL);

		if (run == NULL)
			log_fatal("run %lld: cannot read its settings; restore a backup", (long long)rows->run.id);
		run_make_slots(run);
		what = damage(run);
		if (what != NULL)
			log_fatal("run %lld: %s; restore a backup", (long long)rows->run.id, what);
		adopt_run(engine, run, rows);
	}
	hook_adopt_all(engine);
	file_queue_cleanup(engine, (struct litter){ .sweep = true });
	txn = txn_new(engine);
	txn_emit(txn, "daemon", ROW_NONE, json_pack("{s:s, s:s}", "what", "started", "version", RLD_VERSION));
	txn_commit(txn);
	if (--engine->adopting == 0)
		engine_resume(engine);
}

static void resume_attempt(struct slot *slot)
{
	struct run *run = slot->run;
	const struct attempt_row *a = run_attempt(run, slot->activity.id);

	switch (slot->found) {
	case FOUND_RUNNING:
		if (a->state == ATTEMPT_S_STARTING) {
			attempt_started(slot);
		} else {
			result_watch(slot);
			notice_watch(slot);
		}
		if (slot_ending(slot))
			run->engine->ports.end(run->engine->ports.proc_ctx, slot->activity.id);
		break;
	case FOUND_ENDED: {
		struct exit_record record = slot->record;

		attempt_ended(slot, &record, NULL);
		break;
	}
	case FOUND_NEVER_STARTED:
		/* its shim had started, and its traces were removed: it may have been paid for */
		if (a->state == ATTEMPT_S_RUNNING)
			attempt_ended(slot, NULL, "its directory is gone");
		else
			attempt_build(slot);
		break;
	case FOUND_LOST:
	case FOUND_UNREADABLE: {
		char *detail = xstrdup(slot->lost_detail);

		attempt_ended(slot, NULL, detail);
		free(detail);
		break;
	}
	}
}

/* A git operation found running is ended first: two must not share a private index. The program of
 * a source may finish: it writes elsewhere, and its result is found when the source is asked
 * again. */
static void resume_step(struct slot *slot)
{
	if (slot->found == FOUND_RUNNING && slot->op.of_source && !slot_ending(slot))
		return;
	if (slot->found == FOUND_RUNNING)
		slot->run->engine->ports.end(slot->run->engine->ports.proc_ctx, slot->activity.id);
	else
		step_lost(slot);
}

/* The operation that a slot waits for. */
static void name_operation(struct slot *slot)
{
	const struct slot_row *row = slot->row;

	if (row == NULL) {
		slot->op.of_source = run_is_prepared(slot->run) || slot->run->rows->run.has_git != 1;
		slot->op.task_kind = TASK_OP_LOAD;
		slot->op.git_kind = GIT_SNAPSHOT;
	} else if (row->leaving == LEAVING_INSPECT) {
		slot->op.git_kind = GIT_INSPECT_HEAD;
	} else if (row->leaving == LEAVING_REFS) {
		slot->op.git_kind = GIT_COMPARE_REFS;
	} else if (row->leaving == LEAVING_REMOVE) {
		slot->op.git_kind = GIT_WORKTREE_REMOVE;
	} else if (row->leaving == LEAVING_DELETE) {
		slot->op.git_kind = GIT_WORKTREE_DELETE;
	} else if (row->leaving == LEAVING_TASK || row->stage == SLOT_S_CLAIMING) {
		slot->op.of_source = true;
		slot->op.task_kind = row->stage == SLOT_S_CLAIMING ? TASK_OP_CLAIM :
		    slot_task(slot)->state == TASK_S_PASSED ? TASK_OP_CLOSE : TASK_OP_RELEASE;
	} else if (slot_starts_writing(slot)) {
		slot->op.git_kind = GIT_FIND_EDITS;
	} else {
		slot->op.git_kind = slot->run->engine->stages[row->stage]->git;
	}
}

/* A git operation of the previous daemon may still run there: wait for its end before another one
 * gets its turn. */
static void resume_turn(struct slot *slot)
{
	if (slot->activity.kind != ACTIVITY_OPERATION)
		return;
	name_operation(slot);
	slot->op.has_turn = !slot->op.of_source && turn_is_needed(slot->op.git_kind);
}

static void resume_slot(struct slot *slot)
{
	switch (slot->activity.kind) {
	case ACTIVITY_OPERATION:
		resume_step(slot);
		break;
	case ACTIVITY_ATTEMPT:
		resume_attempt(slot);
		break;
	case ACTIVITY_ACCOUNT:
		attempt_build(slot);
		break;
	case ACTIVITY_NONE:
		if (slot->row != NULL)
			slot_recover(slot);
		break;
	case ACTIVITY_PERMIT:
	case ACTIVITY_CHECKS:
	case ACTIVITY_PICK:
	case ACTIVITY_TRAIN:
	case ACTIVITY_TURN:
	case ACTIVITY_BASELINE:
	case ACTIVITY_PANEL:
	case ACTIVITY_RETRY:
	case ACTIVITY_COMMIT:
	case ACTIVITY_JOB:
	case ACTIVITIES:
		break;
	}
}

/* A running run without an iteration was being prepared. */
static void resume_preparation(struct run *run)
{
	struct txn *txn;

	if (run->own.activity.kind != ACTIVITY_NONE) {
		resume_slot(&run->own);
	} else if (run_cancelling(run)) {
		txn = txn_new(run->engine);
		run_event(txn, run, RUN_E_CANCELLED, NO_CAUSE);
		txn_commit(txn);
	} else if (run_is_prepared(run)) {
		run_load(run);
	} else {
		run_prepare(run);
	}
}

/* Nothing of it is running: the outer loop is between two iterations, or a slot waits. Or a slot is
 * free. */
static void resume_loop(struct run *run)
{
	struct txn *txn = txn_new(run->engine);

	if (run->rows->run.next_at != ROW_NONE && !run_cancelling(run))
		run_load(run);
	else
		txn_touch(txn, run);
	txn_commit_or_drop(txn);
}

/* It waited for a permit when the daemon ended, and has one now. */
static void seat(struct slot *slot)
{
	static const bool queues[WAITS] = { [WAIT_PERMIT] = true, [WAIT_SLOTS] = true, [WAIT_GROUP] = true,
		[WAIT_GROUP_PAUSED] = true, [WAIT_DRAINING] = true };
	struct txn *txn;

	queue_sit(slot);
	if (!queues[slot->row->wait_kind])
		return;
	txn = txn_new(slot->run->engine);
	slot_set_reason(txn_edit_slot(txn, slot), NO_REASON);
	txn_commit(txn);
}

/* Running work keeps its permit, whatever the limits are now. Waiting slots queue again. */
static void resume_permits(struct run *run)
{
	bool has_permit = false, spares = false;

	queue_add(run);
	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot *slot = run->slots[i];
		bool over = slot_row_is_free(slot->row) ||
		    slot->row->stage == SLOT_S_HELD || slot->row->stage == SLOT_S_IMPLEMENTED ||
		    slot->row->stage == SLOT_S_WAITING;
		/* an attempt that never started waits for a permit like others */
		bool waits = slot->activity.kind == ACTIVITY_ACCOUNT ||
		    (activity_has_process(&slot->activity) && slot->found == FOUND_NEVER_STARTED);
		bool awaits = (slot->row->stage == SLOT_S_CHECKING && slot->row->base == BASE_AWAITED) ||
		    slot->row->stage == SLOT_S_PANEL;

		if (slot->row->stage == SLOT_S_CHECKING && slot_checks_merge(slot) && !waits &&
		    slot->row->merge != MERGE_SUSPECTED)
			check_permit_sit(run->slots[i]);
		spares |= awaits || (slot_spares_permit(slot) && !slot_is_baseline(slot));
		if (!over && !waits && !awaits && !slot_spares_permit(slot)) {
			seat(run->slots[i]);
			has_permit = true;
		}
	}
	/* also if its source is being asked while a slot works: the next iteration needs a
	 * permit, and what rolls waits for one */
	if (((!has_permit && !spares) || (activity_has_process(&run->own.activity) && !run->plan.rolls)) &&
	    run->rows->run.state == RUN_S_RUNNING)
		queue_sit(&run->own);
	/* a permit reduces the number wanted by one, but what was found did not wait for one */
	queue_update(run);
}

/* The daemon may have died between a decision and its publication. */
static void publish(struct run *run)
{
	for (size_t i = 0; i < run->nslots; i++)
		if (slot_plan(run->slots[i])->review_log != NULL)
			review_write_log(run, run->slots[i]);
	if (run->rows->run.state == RUN_S_HELD)
		run_write_report(run);
}

/* assign = "agent": a running attempt may not have reported its pick yet, and waiting slots queue
 * behind it. */
static void resume_picks(struct run *run)
{
	struct txn *txn = txn_new(run->engine);

	for (size_t i = 0; i < run->nslots; i++) {
		struct slot *slot = run->slots[i];

		if (slot->row->task == NULL && slot->row->slot != 0 &&
		    slot->row->stage == SLOT_S_IMPLEMENTING && activity_has_process(&slot->activity))
			pick_watch(slot);
		/* it may have waited for a permit before, while an earlier slot was held */
		if (slot->activity.kind == ACTIVITY_PICK && slot->row->wait_kind != WAIT_PICK)
			slot_set_reason(txn_edit_slot(txn, slot), REASON(WAIT_PICK, REASON_STAGED));
	}
	pick_stage(txn, run);
	txn_commit_or_drop(txn);
}

void engine_resume(struct engine *engine)
{
	struct run *run;

	engine->recovering = false;
	accounts_look(engine);
	LIST_FOREACH(run, &engine->runs, entry) {
		resume_permits(run);
		resume_turn(&run->own);
		for (size_t i = 0; i < run->nslots; i++)
			resume_turn(run->slots[i]);
	}
	LIST_FOREACH(run, &engine->runs, entry) {
		if (run->nslots == 0 && (run->rows->run.state == RUN_S_RUNNING || run_cancelling(run)))
			resume_preparation(run);
		else if (activity_has_process(&run->own.activity))
			resume_slot(&run->own);
		for (size_t i = 0; i < run->nslots; i++)
			resume_slot(run->slots[i]);
		/* a slot may have been free beside those at work */
		if (run->nslots > 0 && (!run_is_active(run) || run->plan.rolls))
			resume_loop(run);
		if (run->plan.assign == ASSIGN_AGENT)
			resume_picks(run);
		budget_watch(run);
		publish(run);
	}
	hook_resume_all(engine);
	effects_resume(engine);
	engine_schedule(engine);
	LIST_FOREACH(run, &engine->runs, entry)
		activity_check_run(run);
}
