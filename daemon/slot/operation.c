/* SPDX-License-Identifier: MIT */
/* An operation of a slot: its row is committed, rl-git runs it, a worker reads the result. */
#include "base/agent_user.h"
#include "slot/operation.h"

#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/row.h"
#include "core/state.h"
#include "git/git_op.h"
#include "job/operation_step.h"
#include "job/secrets.h"
#include "job/variables.h"
#include "model/activity.h"
#include "model/dirs.h"
#include "model/job.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slot_key.h"
#include "model/slots.h"
#include "proc/launch.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/shim_job.h"
#include "slot/machine.h"
#include "slot/task_source.h"
#include "slot/turn.h"
#include "slot/wait.h"
#include "task/task_op.h"
#include "txn/emit.h"
#include "txn/txn.h"

#define STEP_TRIES 3
#define STEP_WALL_MS (30 * 60 * 1000)
/* a close that hangs cannot be cancelled: its task has passed */
#define SOURCE_WALL_MS (5 * 60 * 1000)
#define STEP_GRACE_MS 5000

static const char *name_of(const struct slot *slot)
{
	return slot->op.of_source ? task_op_names[slot->op.task_kind] : git_op_names[slot->op.git_kind];
}

/* The operation has failed. */
static void fail(struct txn *txn, struct slot *slot, const char *why)
{
	char *safe = text_escape(why, strlen(why), false), *text;
	struct cause cause;

	if (slot->op.of_source)
		text = xasprintf("%s of %s failed: %s", name_of(slot), sources[run_source(slot->run)].name, safe);
	else
		text = xasprintf("git %s failed: %s", name_of(slot), safe);
	cause = CAUSE(slot->op.of_source ? END_SOURCE : END_GIT, text);
	turn_over(txn, slot);
	slot_wait_over(txn, slot);
	slot->op.tries = 0;	/* the slot may have another one, see edits_unknown() */
	slot->run->engine->operation->failed(txn, slot, cause);
	free(text);
	free(safe);
}

/* The operation has failed, perhaps temporarily: because of a host fault (its errno), or of a
 * source. A run being cancelled does not wait. */
static void failed(struct txn *txn, struct slot *slot, int fault, const char *why)
{
	if (fault != 0 && !run_cancelling(slot->run))
		slot_wait(txn, slot, WAIT_HOST, fault, why);
	else if (slot->op.of_source && !run_cancelling(slot->run) && source_may_pass(slot))
		slot_wait(txn, slot, WAIT_SOURCE, 0, why);
	else
		fail(txn, slot, why);
}

static void begin_step(struct txn *txn, struct slot *slot, struct step_job *w)
{
	struct run *run = slot->run;
	struct engine *engine = run->engine;
	struct step_row *step = row_new(ROW_STEP);
	char uuid[37];

	engine->ports.uuid(engine->ports.clock_ctx, uuid);
	step->id = ++engine->last_attempt;
	step->run = run->rows->run.id;
	step->iteration = slot->row != NULL ? slot->row->iteration : ROW_NONE;
	step->slot = slot->row != NULL ? slot->row->slot : ROW_NONE;
	step->name = xstrdup(name_of(slot));
	step->uuid = xstrdup(uuid);
	step->boot_id = xstrdup(engine->ports.boot_id(engine->ports.clock_ctx));
	step->state = ATTEMPT_S_STARTING;
	step->started_at = engine_now(engine);
	if (slot->row == NULL && slot->op.of_source)
		run_waits_for(txn, run, "bd ready");
	slot->op.step = txn_edit_step(txn, step);
	free(slot->op.next_input);
	slot->op.next_input = w->input;
	slot->op.next_input_size = w->input_size;
	w->input = NULL;
	strings_wipe(slot->op.next_env);
	slot->op.next_env = w->env;
	w->env = NULL;
	variables_of_operation(&slot->op.next_env, uuid);
	txn_effect(txn, EFFECT_STEP, run, slot, step->id);
}

/* Record the end of the slot's step, if it ran. */
static void end_step(struct txn *txn, struct slot *slot)
{
	if (slot->op.step == NULL)
		return;
	txn_edit_step(txn, slot->op.step)->ended_at = engine_now(slot->run->engine);
	txn_retire(txn, ROW_STEP, slot->op.step);
	slot->op.step = NULL;
}

/* The slot's step has ended without a record. */
static void set_end(struct txn *txn, struct slot *slot, const char *cause)
{
	struct step_row *step = txn_edit_step(txn, slot->op.step);

	step->state = ATTEMPT_S_EXITED;
	text_set(&step->cause, cause);
}

/* Content of the exit record of the slot's step. */
static void take_end(struct step_row *step, const struct exit_record *record)
{
	step->state = ATTEMPT_S_EXITED;
	step->exit_code = record->how == EXIT_BY_CODE ? record->status : ROW_NONE;
	step->signal = record->how == EXIT_BY_SIGNAL ? record->status : ROW_NONE;
	if (record->by == EXIT_WALL)
		step->cause = xstrdup("timed out");
}

static void next_cb(void *arg, struct job *job)
{
	struct engine *engine = arg;
	struct step_job *w = (struct step_job *)job;
	struct slot *slot = slot_at_job(engine, w->key);
	struct txn *txn;

	if (slot == NULL) {
		job_free(job);
		return;
	}
	txn = txn_new(engine);
	if (slot->op.step != NULL)
		take_end(txn_edit_step(txn, slot->op.step), &slot->record);
	end_step(txn, slot);
	if (w->made != NULL)
		slot->op.task = w->made;
	w->made = NULL;
	activity_end(&slot->activity);
	if (slot_ending(slot)) {
		slot->run->engine->operation->ended(txn, slot);
	} else {
		switch (w->next) {
		case STEP_NEXT_RUN:
			begin_step(txn, slot, w);
			break;
		case STEP_NEXT_DONE:
			slot->op.tries = 0;
			text_set(&slot->op.patch_hash, w->patch_hash);
			slot_wait_over(txn, slot);
			turn_over(txn, slot);
			engine->operation->done(txn, slot, w->step);
			break;
		case STEP_NEXT_FAILED:
			failed(txn, slot, job->fault, w->error != NULL ? w->error : slot->op.of_source ?
			    task_op_error(slot->op.task) : git_op_error(slot->op.git));
			break;
		}
	}
	txn_commit(txn);
	job_free(job);
}

static void next(struct slot *slot, int64_t step, bool ok)
{
	struct run *run = slot->run;
	struct step_job *w = xcalloc(1, sizeof(*w));

	activity_start_job(&slot->activity);
	w->key = slot_key(slot);
	w->git = slot->op.git;
	w->task = slot->op.task;
	if (slot->op.of_source && w->task == NULL)
		source_spec(slot, &w->source);
	w->secrets = secrets_new(run->rows->run.environment, &run->plan);
	w->scratch = dirs_scratch(run->engine->state_dir, run->rows->run.id, slot->row);
	w->step = step;
	w->ok = ok;
	engine_job(run->engine, &w->job, &operation_step_type, next_cb, run->engine);
}

void step_first(struct slot *slot)
{
	next(slot, ROW_NONE, true);
}

void source_begin(struct slot *slot, enum task_op_kind kind)
{
	operation_free(&slot->op);
	slot->op.of_source = true;
	slot->op.task_kind = kind;
	step_first(slot);
}

/* Cancelled between the decision and the start. */
static void end_unstarted(struct slot *slot)
{
	struct txn *txn = txn_new(slot->run->engine);

	set_end(txn, slot, "cancelled before it was started");
	end_step(txn, slot);
	slot->run->engine->operation->ended(txn, slot);
	txn_commit(txn);
}

void step_launch(struct slot *slot)
{
	struct engine *engine = slot->run->engine;
	struct launch *launch;
	char **argv = NULL;

	if (slot_ending(slot)) {
		end_unstarted(slot);
		return;
	}
	launch = xcalloc(1, sizeof(*launch));
	strings_append(&argv, engine->rl_git);
	strings_append(&argv, name_of(slot));
	launch->id = slot->op.step->id;
	/* it may be started again under another number */
	launch->envp = strings_copy(slot->op.next_env);
	launch->job = (struct shim_job){
		.argv = argv,
		.cwd = dirs_attempt(engine->state_dir, launch->id),
		.input = xstrdup(RECORD_OPERATION),
		.uuid = xstrdup(slot->op.step->uuid),
		.wall_ms = slot->op.of_source ? SOURCE_WALL_MS : STEP_WALL_MS,
		.grace_ms = STEP_GRACE_MS,
		.output_bytes = GIT_PATCH_KEEP,
		.durable = false,
		.keeps_group = agent_user()->apart,
	};
	launch->files[launch->nfiles++] = (struct launch_file){
		.name = RECORD_OPERATION,
		.data = xmemdup0(slot->op.next_input, slot->op.next_input_size),
		.size = slot->op.next_input_size,
	};
	activity_start_operation(&slot->activity, launch->id);
	engine->ports.start(engine->ports.proc_ctx, launch);
}

void step_renumber(struct slot *slot)
{
	struct engine *engine = slot->run->engine;
	struct txn *txn = txn_new(engine);

	txn_drop(txn, ROW_STEP, slot->op.step);
	txn_edit_step(txn, slot->op.step)->id = ++engine->last_attempt;
	txn_effect(txn, EFFECT_STEP, slot->run, slot, slot->op.step->id);
	txn_commit(txn);
}

void step_refused(struct slot *slot, int status, const char *error)
{
	struct txn *txn = txn_new(slot->run->engine);

	set_end(txn, slot, error);
	end_step(txn, slot);
	activity_end(&slot->activity);
	if (slot_ending(slot))
		slot->run->engine->operation->ended(txn, slot);
	else
		failed(txn, slot, host_fault(status) ? status : 0, error);
	txn_commit(txn);
}

/* Start the slot's operation again. */
static void again(struct txn *txn, struct slot *slot)
{
	if (slot->row == NULL)
		txn_effect(txn, slot->op.of_source || run_is_prepared(slot->run) ? EFFECT_LOAD :
		    EFFECT_PREPARE, slot->run, slot, ROW_NONE);
	else
		txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

void step_lost(struct slot *slot)
{
	struct txn *txn = txn_new(slot->run->engine);

	if (slot->op.step != NULL) {
		txn_edit_step(txn, slot->op.step)->state = ATTEMPT_S_LOST;
		end_step(txn, slot);
	}
	activity_end(&slot->activity);
	if (slot_ending(slot)) {
		slot->run->engine->operation->ended(txn, slot);
	} else if (++slot->op.tries >= STEP_TRIES) {
		fail(txn, slot, "its process was killed three times");
	} else {
		again(txn, slot);
	}
	txn_commit(txn);
}

/* A step of the previous daemon has ended by itself: the operation starts again and finds what it
 * did. */
static void step_outlived(struct slot *slot)
{
	struct txn *txn = txn_new(slot->run->engine);

	take_end(txn_edit_step(txn, slot->op.step), &slot->record);
	end_step(txn, slot);
	activity_end(&slot->activity);
	if (slot_ending(slot))
		slot->run->engine->operation->ended(txn, slot);
	else
		again(txn, slot);
	txn_commit(txn);
}

void step_ended(struct slot *slot, const struct exit_record *record)
{
	if (record != NULL && record->by == EXIT_TERM && slot_ending(slot)) {
		step_refused(slot, 0, "cancelled");
		return;
	}
	/* only a kill from outside, such as for lack of memory, ends rl-git by a signal */
	if (record == NULL || record->by == EXIT_TERM || (record->how == EXIT_BY_SIGNAL && record->by == EXIT_OWN)) {
		step_lost(slot);
		return;
	}
	if (record->how == EXIT_NOT_STARTED) {
		step_refused(slot, record->status, record->error);
		return;
	}
	slot->record = *record;
	if (slot->op.git == NULL && slot->op.task == NULL) {
		step_outlived(slot);
		return;
	}
	next(slot, slot->op.step->id, record->how == EXIT_BY_CODE && record->status == 0);
}
