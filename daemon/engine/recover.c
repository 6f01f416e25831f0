/* SPDX-License-Identifier: MIT */
/* Start-up: the rows of unfinished runs are the working rows again; every unfinished attempt and step is classified
 * by the proc port before anything acts; then each lane goes on from its stage. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine_int.h"

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

static void adopt(struct engine *engine, struct lane *lane, int64_t id, const char *uuid, const char *boot_id)
{
	struct adopt a = { .id = id, .uuid = uuid, .boot_id = boot_id };

	lane->pending = PENDING_PROC;
	lane->id = id;
	engine->adopting++;
	engine->ports.adopt(engine->ports.proc_ctx, &a);
}

static bool unfinished(int state)
{
	return state == ATTEMPT_S_STARTING || state == ATTEMPT_S_RUNNING;
}

static void adopt_run(struct engine *engine, struct run *run, const struct run_rows *rows)
{
	for (size_t i = 0; i < run->rows->nattempts; i++) {
		struct attempt_row *a = run->rows->attempts[i];
		struct lane *lane = unfinished(a->state) ? run_lane(run, a->iteration, a->slot) : NULL;

		/* that it cools no more is on disk before it starts: it cannot be lost, not even by another boot */
		if (lane != NULL && a->state == ATTEMPT_S_STARTING && slot_cools(lane->row))
			lane->pending = PENDING_COOLING;
		else if (lane != NULL)
			adopt(engine, lane, a->id, a->uuid, a->boot_id);
	}
	for (size_t i = 0; i < rows->nsteps; i++) {
		struct step_row *step = rows->steps[i];
		struct lane *lane = unfinished(step->state) ? run_lane(run, step->iteration, step->slot) : NULL;

		if (lane == NULL || lane->pending != PENDING_NOTHING)
			continue;
		lane->step = row_copy(ROW_STEP, step);
		adopt(engine, lane, step->id, step->uuid, step->boot_id);
	}
}

/* What is missing from rows that somebody has edited, or that a bad disk has damaged. Who went on without it would start what has been
 * paid for, or stand still for ever. NULL: nothing. Free it. */
static char *damage(const struct run *run)
{
	static const bool works[SLOT_STAGES] = {
		[SLOT_S_IMPLEMENTING] = true, [SLOT_S_CHECKING] = true, [SLOT_S_REVIEWING] = true, [SLOT_S_FIXING] = true, [SLOT_S_COMMIT_AGENT] = true,
	};

	if (run->rows->run.group == NULL)
		return xstrdup("it has no group");
	for (size_t i = 0; i < run->rows->nattempts; i++) {
		const struct attempt_row *a = run->rows->attempts[i];

		if (a->agent == NULL)
			return xasprintf("attempt %lld has no agent", (long long)a->id);
	}
	for (size_t i = 0; i < run->nlanes; i++) {
		const struct slot_row *row = run->lanes[i]->row;
		bool found = row->attempt == ROW_NONE;

		if (found && works[row->stage])
			return xasprintf("slot %lld has stage %s, but no attempt", (long long)row->slot, state_name(&slot_stage_names, row->stage));
		for (size_t j = 0; !found && j < run->rows->nattempts; j++)
			found = run->rows->attempts[j]->id == row->attempt;
		if (!found)
			return xasprintf("slot %lld has attempt %lld, which does not exist", (long long)row->slot, (long long)row->attempt);
	}
	return NULL;
}

void engine_recover(struct engine *engine)
{
	const struct run_rows *rows = NULL;
	struct turn *turn;
	char *what;

	/* held through the loop, so that a report cannot end the count early */
	engine->adopting = 1;
	while ((rows = view_next(engine->view, rows != NULL ? rows->run.id : 0)) != NULL) {
		struct run *run = run_new(engine, run_rows_copy(rows));

		if (run == NULL)
			log_fatal("run %lld: its settings cannot be read; restore a backup", (long long)rows->run.id);
		run_make_lanes(run);
		what = damage(run);
		if (what != NULL)
			log_fatal("run %lld: %s; restore a backup", (long long)rows->run.id, what);
		adopt_run(engine, run, rows);
	}
	hook_adopt_all(engine);
	desk_forget(engine, ROW_NONE, NULL, NULL, NULL, true);
	turn = turn_new(engine);
	turn_tell(turn, "daemon", ROW_NONE, json_pack("{s:s, s:s}", "what", "started", "version", RLD_VERSION));
	turn_commit(turn);
	if (--engine->adopting == 0)
		engine_resume(engine);
}

/* After a commit agent the operation is another. */
static enum git_op_kind commit_op(const struct lane *lane)
{
	return lane->row->attempt != ROW_NONE && run_attempt(lane->run, lane->row->attempt)->role == ROLE_COMMIT ? GIT_COMMITTED : GIT_COMMIT;
}

static void resume_attempt(struct lane *lane)
{
	struct run *run = lane->run;
	struct attempt_row *a = run_attempt(run, lane->id);

	switch (lane->found) {
	case FOUND_RUNNING:
		if (a->state == ATTEMPT_S_STARTING) {
			attempt_started(lane);
		} else {
			result_watch(lane);
			notice_watch(lane);
		}
		if (lane_ending(lane))
			run->engine->ports.end(run->engine->ports.proc_ctx, lane->id);
		break;
	case FOUND_ENDED: {
		struct exit_record record = lane->record;

		attempt_ended(lane, &record, NULL);
		break;
	}
	case FOUND_NEVER_STARTED:
		/* its supervisor was started, and its traces were removed: it may have been paid for */
		if (a->state == ATTEMPT_S_RUNNING)
			attempt_ended(lane, NULL, "its directory is gone");
		else
			attempt_compose(lane);
		break;
	case FOUND_LOST:
	case FOUND_UNREADABLE: {
		char *detail = xstrdup(lane->lost_detail);

		attempt_ended(lane, NULL, detail);
		free(detail);
		break;
	}
	}
}

/* A step of git that is found running is ended first: two of them must not share a private index. The program of a source is let end: it writes
 * elsewhere, and what it has done is found when it is asked again. */
static void resume_step(struct lane *lane)
{
	if (lane->found == FOUND_RUNNING && lane->asks_source && !lane_ending(lane))
		return;
	if (lane->found == FOUND_RUNNING)
		lane->run->engine->ports.end(lane->run->engine->ports.proc_ctx, lane->id);
	else
		step_lost(lane);
}

/* Nothing was under way in this lane: take up its stage where the last decision left it. */
static void resume_stage(struct lane *lane)
{
	switch ((enum slot_stage)lane->row->stage) {
	case SLOT_S_CLAIMING:
		source_begin(lane, TASK_OP_CLAIM);
		break;
	case SLOT_S_LAYING:
		git_begin(lane, GIT_WORKTREE);
		break;
	case SLOT_S_MERGING:
		git_begin(lane, GIT_MERGE);
		break;
	case SLOT_S_MEASURING:
		git_begin(lane, GIT_MEASURE);
		break;
	case SLOT_S_VERIFYING:
		if (lane->run->rows->run.has_git == 1)
			git_begin(lane, GIT_VERIFY);
		else
			review_judge(lane, NULL, NULL);
		break;
	case SLOT_S_PINNING:
		git_begin(lane, GIT_PIN);
		break;
	case SLOT_S_ENDING: {
		struct turn *turn = turn_new(lane->run->engine);

		lane_ended(turn, lane);
		turn_commit(turn);
		break;
	}
	case SLOT_S_CHECKOUT:
		git_begin(lane, GIT_CHECKOUT);
		break;
	case SLOT_S_COMMITTING:
		git_begin(lane, commit_op(lane));
		break;
	case SLOT_S_WAITING:
		if (lane->run->plan.assign == ASSIGN_AGENT && lane->row->task == NULL && lane->row->slot > 1)
			lane->pending = PENDING_STAGE;
		else
			queue_want(lane);
		break;
	case SLOT_S_IMPLEMENTING:
	case SLOT_S_CHECKING:
	case SLOT_S_REVIEWING:
	case SLOT_S_FIXING:
	case SLOT_S_COMMIT_AGENT:
		log_bug("run %lld slot %lld: stage %s without an attempt", (long long)lane->row->run, (long long)lane->row->slot,
		    state_name(&slot_stage_names, lane->row->stage));
		break;
	case SLOT_S_HELD:
	case SLOT_S_IMPLEMENTED:
	case SLOT_S_PASSED:
	case SLOT_S_FAILED:
	case SLOT_S_CANCELLED:
	case SLOT_STAGES:
		break;
	}
}

/* The operation that a lane waits for. */
static void name_operation(struct lane *lane)
{
	static const enum git_op_kind ops[SLOT_STAGES] = {
		[SLOT_S_LAYING] = GIT_WORKTREE,
		[SLOT_S_MEASURING] = GIT_MEASURE,
		[SLOT_S_CHECKOUT] = GIT_CHECKOUT,
		[SLOT_S_VERIFYING] = GIT_VERIFY,
		[SLOT_S_PINNING] = GIT_PIN,
		[SLOT_S_COMMITTING] = GIT_COMMIT,
		[SLOT_S_MERGING] = GIT_MERGE,
	};
	const struct slot_row *row = lane->row;

	if (row == NULL) {
		lane->asks_source = run_is_prepared(lane->run) || lane->run->rows->run.has_git != 1;
		lane->task_kind = TASK_OP_LOAD;
		lane->git_kind = GIT_SNAPSHOT;
	} else if (row->leaving == LEAVING_LOOK) {
		lane->git_kind = GIT_LOOK;
	} else if (row->leaving == LEAVING_CLEAR) {
		lane->git_kind = GIT_CLEAR;
	} else if (row->leaving == LEAVING_TASK || row->stage == SLOT_S_CLAIMING) {
		lane->asks_source = true;
		lane->task_kind = row->stage == SLOT_S_CLAIMING ? TASK_OP_CLAIM : lane_task(lane)->state == TASK_S_PASSED ? TASK_OP_CLOSE : TASK_OP_RELEASE;
	} else {
		lane->git_kind = row->stage == SLOT_S_COMMITTING ? commit_op(lane) : ops[row->stage];
	}
}

/* Whatever git of the daemon before still runs there: nobody else gets its turn before it is gone. */
static void resume_turn(struct lane *lane)
{
	if (lane->pending != PENDING_PROC || lane->step == NULL)
		return;
	name_operation(lane);
	lane->has_turn = !lane->asks_source && git_takes_turns(lane->git_kind);
}

static void resume_lane(struct lane *lane)
{
	if (lane->pending == PENDING_PROC && lane->step != NULL) {
		resume_step(lane);
	} else if (lane->pending == PENDING_PROC) {
		resume_attempt(lane);
	} else if (lane->pending == PENDING_COOLING) {
		attempt_compose(lane);
	} else if (lane->row != NULL && lane->pending == PENDING_NOTHING && lane->row->leaving != LEAVING_NOTHING) {
		leave_act(lane);
	} else if (lane->row != NULL && lane->pending == PENDING_NOTHING) {
		resume_stage(lane);
	}
}

/* A running run without an iteration was still being prepared. */
static void resume_preparation(struct run *run)
{
	struct turn *turn;

	if (run->own.pending != PENDING_NOTHING) {
		resume_lane(&run->own);
	} else if (run_cancelling(run)) {
		turn = turn_new(run->engine);
		run_event(turn, run, RUN_E_CANCELLED, NULL);
		turn_commit(turn);
	} else if (run_is_prepared(run)) {
		run_load(run);
	} else {
		run_prepare(run);
	}
}

/* Nothing of it is under way: the outer loop is between two iterations, or a slot waits for the next daemon. */
static void resume_loop(struct run *run)
{
	struct turn *turn = turn_new(run->engine);

	if (run->rows->run.next_at != ROW_NONE && !run_cancelling(run))
		run_load(run);
	else
		run_settled(turn, run);
	turn_commit_or_drop(turn);
}

/* What was under way has a slot of the daemon, whatever the limits say now. Waiting slots queue again. */
static void resume_seats(struct run *run)
{
	bool seated = false;

	queue_add(run);
	for (size_t i = 0; i < run->nlanes; i++) {
		const struct slot_row *row = run->lanes[i]->row;
		bool over = (slot_stage_is_end((enum slot_stage)row->stage) && row->leaving == LEAVING_NOTHING) || row->stage == SLOT_S_HELD ||
		    row->stage == SLOT_S_IMPLEMENTED || row->stage == SLOT_S_WAITING;

		/* an attempt that never started waits for one like the others */
		if (!over && run->lanes[i]->pending != PENDING_COOLING && !(run->lanes[i]->pending == PENDING_PROC && run->lanes[i]->found == FOUND_NEVER_STARTED)) {
			queue_sit(run->lanes[i]);
			seated = true;
		}
	}
	/* also when it asks its source while a slot of it works: the next iteration begins on what it has */
	if ((!seated || run->own.pending == PENDING_PROC) && run->rows->run.state == RUN_S_RUNNING)
		queue_sit(&run->own);
	/* whoever sits down wants one less, but what was found has not been waited for */
	queue_update(run);
}

/* Between a decision and what is written of it for people, the daemon may have died. */
static void publish(struct run *run)
{
	for (size_t i = 0; i < run->nlanes; i++)
		if (lane_plan(run->lanes[i])->review_log != NULL)
			review_write_log(run, run->lanes[i]);
	if (run->rows->run.state == RUN_S_HELD)
		run_write_report(run);
}

/* assign = "agent": what runs has perhaps not said yet what it picked, and what waits queues behind it. */
static void resume_picks(struct run *run)
{
	struct turn *turn = turn_new(run->engine);

	for (size_t i = 0; i < run->nlanes; i++) {
		struct lane *lane = run->lanes[i];

		if (lane->row->task == NULL && lane->row->slot != 0 && lane->row->stage == SLOT_S_IMPLEMENTING && lane->pending == PENDING_PROC)
			pick_watch(lane);
		/* it may have waited for a slot of the daemon before, while what stood before it was held */
		if (lane->pending == PENDING_STAGE && (lane->row->reason == NULL || strcmp(lane->row->reason, REASON_STAGED) != 0)) {
			text_set(&lane->row->reason, REASON_STAGED);
			turn_put(turn, ROW_SLOT, lane->row);
		}
	}
	pick_stage(turn, run);
	turn_commit_or_drop(turn);
}

void engine_resume(struct engine *engine)
{
	struct run *run;

	engine->recovering = false;
	accounts_look(engine);
	LIST_FOREACH(run, &engine->runs, entry) {
		resume_seats(run);
		resume_turn(&run->own);
		for (size_t i = 0; i < run->nlanes; i++)
			resume_turn(run->lanes[i]);
	}
	LIST_FOREACH(run, &engine->runs, entry) {
		if (run->nlanes == 0 && (run->rows->run.state == RUN_S_RUNNING || run_cancelling(run)))
			resume_preparation(run);
		else if (run->own.pending == PENDING_PROC)
			resume_lane(&run->own);
		for (size_t i = 0; i < run->nlanes; i++)
			resume_lane(run->lanes[i]);
		if (run->nlanes > 0 && !run_is_active(run))
			resume_loop(run);
		if (run->plan.assign == ASSIGN_AGENT)
			resume_picks(run);
		budget_watch(run);
		publish(run);
	}
	hook_resume_all(engine);
	turn_resume(engine);
	engine_schedule(engine);
}
