/* SPDX-License-Identifier: MIT */
/* An operation of a lane, step by step: a worker names the next process, its row is committed, then it runs. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engine_int.h"
#include "proto/escape.h"
#include "record/host_fault.h"
#include "record/layout.h"

#define STEP_TRIES 3
#define STEP_WALL_MS (30 * 60 * 1000)
#define SOURCE_WALL_MS (5 * 60 * 1000)	/* a close that hangs cannot be cancelled: its task has passed */
#define STEP_GRACE_MS 5000

void operation_free(struct operation *op)
{
	git_op_free(op->git);
	task_op_free(op->task);
	*op = (struct operation){ 0 };
}

static const char *name_of(const struct lane *lane)
{
	return lane->asks_source ? task_op_names[lane->task_kind] : git_op_names[lane->git_kind];
}

/* What the whole operation came to, when it came to nothing. */
static void fail(struct turn *turn, struct lane *lane, const char *why)
{
	char *safe = text_escape(why, strlen(why), false), *cause;

	if (lane->asks_source)
		cause = xasprintf("%s of %s failed: %s", name_of(lane), sources[run_source(lane->run)].name, safe);
	else
		cause = xasprintf("git %s failed: %s", name_of(lane), safe);
	git_turn_over(turn, lane);
	lane_wait_over(turn, lane);
	if (lane->row == NULL)
		run_failed(turn, lane->run, cause);
	else if (lane->row->leaving != LEAVING_NOTHING)
		leave_next(turn, lane, cause);
	else
		lane_event(turn, lane, SLOT_E_FAILED, cause);
	free(cause);
	free(safe);
}

/* It came to nothing, and perhaps only for now: for a fault of the host, its errno, or a source that fails for a while. A run that is being
 * cancelled waits for nothing any more. */
static void failed(struct turn *turn, struct lane *lane, int fault, const char *why)
{
	if (fault != 0 && !run_cancelling(lane->run))
		lane_wait(turn, lane, WAIT_HOST, fault, why);
	else if (lane->asks_source && !run_cancelling(lane->run) && source_may_pass(lane))
		lane_wait(turn, lane, WAIT_SOURCE, 0, why);
	else
		fail(turn, lane, why);
}

static void begin_step(struct turn *turn, struct lane *lane, struct step_work *w)
{
	struct run *run = lane->run;
	struct engine *engine = run->engine;
	struct step_row *step = row_new(ROW_STEP);
	char uuid[37];

	engine->ports.uuid(engine->ports.clock_ctx, uuid);
	step->id = ++engine->last_attempt;
	step->run = run->rows->run.id;
	step->iteration = lane->row != NULL ? lane->row->iteration : ROW_NONE;
	step->slot = lane->row != NULL ? lane->row->slot : ROW_NONE;
	step->name = xasprintf("%s: %s", name_of(lane), w->out.name);
	step->uuid = xstrdup(uuid);
	step->boot_id = xstrdup(engine->ports.boot_id(engine->ports.clock_ctx));
	step->state = ATTEMPT_S_STARTING;
	step->started_at = engine_now(engine);
	turn_put(turn, ROW_STEP, step);
	if (lane->row == NULL && lane->asks_source)
		run_waits_for(turn, run, w->out.name);
	lane->step = step;
	lane->next_step = w->out;
	strings_wipe(lane->next_env);
	lane->next_env = w->env;
	w->env = NULL;
	environment_set(&lane->next_env, "RL_ATTEMPT_UUID", uuid);
	turn_act(turn, ACT_STEP, run, lane, step->id);
}

/* Record the end of the lane's step, if it has one that ran. */
static void end_step(struct turn *turn, struct lane *lane)
{
	if (lane->step == NULL)
		return;
	lane->step->ended_at = engine_now(lane->run->engine);
	turn_put(turn, ROW_STEP, lane->step);
	row_free(ROW_STEP, lane->step);
	lane->step = NULL;
}

static void next_cb(void *arg, struct work *work)
{
	struct lane *lane = arg;
	struct engine *engine = lane->run->engine;
	struct step_work *w = (struct step_work *)work;
	struct turn *turn;

	if (engine->stopped) {
		work_free(work);
		return;
	}
	turn = turn_new(engine);
	end_step(turn, lane);
	if (w->made != NULL)
		lane->op.task = w->made;
	w->made = NULL;
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	if (lane_ending(lane)) {
		lane_ended(turn, lane);
	} else {
		switch (w->next) {
		case STEP_NEXT_RUN:
			begin_step(turn, lane, w);
			break;
		case STEP_NEXT_DONE:
			lane->tries = 0;
			lane_wait_over(turn, lane);
			if (lane->asks_source)
				source_done(turn, lane);
			else
				git_done(turn, lane, w->step);
			break;
		case STEP_NEXT_FAILED:
			failed(turn, lane, work->fault, w->error != NULL ? w->error : lane->asks_source ? task_op_error(lane->op.task) : git_op_error(lane->op.git));
			break;
		}
	}
	turn_commit(turn);
	work_free(work);
}

static void next(struct lane *lane, int64_t step, bool ok)
{
	struct run *run = lane->run;
	struct step_work *w = xcalloc(1, sizeof(*w));

	lane->pending = PENDING_WORK;
	w->git = lane->op.git;
	w->task = lane->op.task;
	if (lane->asks_source && w->task == NULL)
		source_spec(lane, &w->source);
	w->secrets = secrets_new(run->rows->run.environment, &run->plan);
	w->scratch = work_scratch_dir(run->engine->state_dir, run->rows->run.id, lane->row);
	w->step = step;
	w->keep = lane->next_step.output_bytes;
	w->name = lane->next_step.name;
	w->ok = ok;
	engine_work(run->engine, &w->work, WORK_STEP, next_cb, lane);
}

void step_first(struct lane *lane)
{
	next(lane, ROW_NONE, true);
}

/* The cancel came between the decision and the start. */
static void end_unstarted(struct lane *lane)
{
	struct turn *turn = turn_new(lane->run->engine);

	lane->step->state = ATTEMPT_S_EXITED;
	lane->step->cause = xstrdup("cancelled before it was started");
	end_step(turn, lane);
	lane_ended(turn, lane);
	turn_commit(turn);
}

void step_launch(struct lane *lane)
{
	struct engine *engine = lane->run->engine;
	struct launch *launch;
	char **argv = NULL;

	if (lane_ending(lane)) {
		end_unstarted(lane);
		return;
	}
	launch = xcalloc(1, sizeof(*launch));
	for (size_t i = 0; lane->next_step.argv[i] != NULL; i++)
		strings_append(&argv, lane->next_step.argv[i]);
	launch->id = lane->step->id;
	launch->envp = strings_copy(lane->next_env);	/* it may be started once more under another number */
	launch->job = (struct job){
		.argv = argv,
		.cwd = xstrdup(lane->next_step.cwd != NULL ? lane->next_step.cwd : lane->run->rows->run.workspace),
		.input = lane->next_step.input != NULL ? xstrdup(RECORD_PROMPT) : NULL,
		.uuid = xstrdup(lane->step->uuid),
		.wall_ms = lane->asks_source ? SOURCE_WALL_MS : STEP_WALL_MS,
		.grace_ms = STEP_GRACE_MS,
		.output_bytes = lane->next_step.output_bytes,
		.durable = false,
	};
	if (lane->next_step.input != NULL)
		launch->files[launch->nfiles++] = (struct launch_file){
			.name = RECORD_PROMPT,
			.data = xmemdup0(lane->next_step.input, lane->next_step.input_size),
			.size = lane->next_step.input_size,
			.mode = 0600,
		};
	lane->pending = PENDING_PROC;
	lane->id = launch->id;
	engine->ports.start(engine->ports.proc_ctx, launch);
}

void step_renumber(struct lane *lane)
{
	struct engine *engine = lane->run->engine;
	struct turn *turn = turn_new(engine);

	turn_drop(turn, ROW_STEP, lane->step);
	lane->step->id = ++engine->last_attempt;
	turn_put(turn, ROW_STEP, lane->step);
	lane->id = ROW_NONE;
	turn_act(turn, ACT_STEP, lane->run, lane, lane->step->id);
	turn_commit(turn);
}

void step_refused(struct lane *lane, int status, const char *error)
{
	struct turn *turn = turn_new(lane->run->engine);

	lane->step->state = ATTEMPT_S_EXITED;
	lane->step->cause = xstrdup(error);
	end_step(turn, lane);
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	if (lane_ending(lane))
		lane_ended(turn, lane);
	else
		failed(turn, lane, host_fault(status) ? status : 0, error);
	turn_commit(turn);
}

/* The operation of the lane begins again. */
static void again(struct turn *turn, struct lane *lane)
{
	if (lane->row == NULL)
		turn_act(turn, lane->asks_source || run_is_prepared(lane->run) ? ACT_LOAD : ACT_PREPARE, lane->run, lane, ROW_NONE);
	else if (lane->asks_source)
		turn_act(turn, ACT_SOURCE, lane->run, lane, (int64_t)lane->task_kind);
	else
		turn_act(turn, ACT_GIT, lane->run, lane, (int64_t)lane->git_kind);
}

void step_lost(struct lane *lane)
{
	struct turn *turn = turn_new(lane->run->engine);

	if (lane->step != NULL) {
		lane->step->state = ATTEMPT_S_LOST;
		end_step(turn, lane);
	}
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	if (lane_ending(lane)) {
		lane_ended(turn, lane);
	} else if (++lane->tries >= STEP_TRIES) {
		fail(turn, lane, "its process was killed three times");
	} else {
		again(turn, lane);
	}
	turn_commit(turn);
}

/* A step of the daemon before this one, which has ended by itself: what it has done is found by the operation, which begins again. */
static void step_outlived(struct lane *lane)
{
	struct turn *turn = turn_new(lane->run->engine);

	end_step(turn, lane);
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	if (lane_ending(lane))
		lane_ended(turn, lane);
	else
		again(turn, lane);
	turn_commit(turn);
}

static void take_end(struct step_row *step, const struct exit_record *record)
{
	step->state = ATTEMPT_S_EXITED;
	step->exit_code = record->how == EXIT_BY_CODE ? record->status : ROW_NONE;
	step->signal = record->how == EXIT_BY_SIGNAL ? record->status : ROW_NONE;
	if (record->by == EXIT_WALL)
		step->cause = xstrdup("timed out");
}

void step_ended(struct lane *lane, const struct exit_record *record)
{
	if (record != NULL && record->by == EXIT_TERM && lane_ending(lane)) {
		step_refused(lane, 0, "cancelled");
		return;
	}
	if (record == NULL || record->by == EXIT_TERM) {
		step_lost(lane);
		return;
	}
	if (record->how == EXIT_NOT_STARTED) {
		step_refused(lane, record->status, record->error);
		return;
	}
	take_end(lane->step, record);
	if (lane->op.git == NULL && lane->op.task == NULL) {
		step_outlived(lane);
		return;
	}
	next(lane, lane->step->id, record->how == EXIT_BY_CODE && record->status == 0);
}
