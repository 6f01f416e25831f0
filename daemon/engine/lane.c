/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine_int.h"

void lane_release(struct lane *lane)
{
	operation_free(&lane->op);
	row_free(ROW_STEP, lane->step);
	strings_wipe(lane->next_env);
	free(lane->lost_detail);
	briefing_release(&lane->briefing);
	if (lane->plan != NULL)
		plan_release(lane->plan);
	free(lane->plan);
}

struct lane *engine_lane_of(struct engine *engine, int64_t id)
{
	struct run *run;

	LIST_FOREACH(run, &engine->runs, entry) {
		if (run->own.pending == PENDING_PROC && run->own.id == id)
			return &run->own;
		for (size_t i = 0; i < run->nlanes; i++)
			if (run->lanes[i]->pending == PENDING_PROC && run->lanes[i]->id == id)
				return run->lanes[i];
	}
	return NULL;
}

struct task_row *lane_task(const struct lane *lane)
{
	struct task_row *task;

	if (lane->row->task == NULL)
		return NULL;
	task = run_rows_task(lane->run->rows, lane->row->task);
	if (task == NULL)
		log_fatal("run %lld: slot %lld has task %s, which does not exist; restore a backup", (long long)lane->run->rows->run.id, (long long)lane->row->slot, lane->row->task);
	return task;
}

const char *lane_task_id(const struct lane *lane)
{
	return lane->row->task != NULL ? lane->row->task : "run";
}

/* The settings of its task, where that has some of its own. */
static void load_plan(struct lane *lane)
{
	const struct task_row *task = lane->row != NULL ? lane_task(lane) : NULL;

	if (lane->plan != NULL)
		plan_release(lane->plan);
	free(lane->plan);
	lane->plan = NULL;
	if (task == NULL || task->plan == NULL)
		return;
	lane->plan = xcalloc(1, sizeof(*lane->plan));
	if (plan_from_json(task->plan, lane->plan) == -1)
		log_fatal("run %lld: the settings of task %s cannot be read; restore a backup", (long long)task->run, task->id);
}

void lane_init(struct lane *lane, struct run *run, struct slot_row *row)
{
	*lane = (struct lane){ .run = run, .row = row, .id = ROW_NONE, .wake_at = ROW_NONE };
	load_plan(lane);
}

void lane_set_task(struct lane *lane, const char *task)
{
	char *copy = xstrdup(task);

	free(lane->row->task);
	lane->row->task = copy;
	load_plan(lane);
}

const struct plan *lane_plan(const struct lane *lane)
{
	return lane->plan != NULL ? lane->plan : &lane->run->plan;
}

const char *lane_workspace(const struct lane *lane)
{
	return lane->row != NULL && lane->row->worktree != NULL ? lane->row->worktree : lane->run->rows->run.workspace;
}

char *lane_workdir(const struct lane *lane)
{
	return work_slot_dir(&lane->run->rows->run, lane->row);
}

const char *lane_base_tree(const struct lane *lane)
{
	return lane->row != NULL && lane->row->base_tree != NULL ? lane->row->base_tree : lane->run->rows->run.base_tree;
}

bool lane_has_checkout(const struct lane *lane)
{
	return lane_plan(lane)->workspace == PLACE_SNAPSHOT && lane->run->rows->run.has_git == 1;
}

bool lane_is_merged(const struct lane *lane)
{
	return lane_plan(lane)->integrate == INTEGRATE_MERGE && lane->row->slot != 0 && lane->row->stage == SLOT_S_PASSED && lane->row->commit_id != NULL;
}

bool lane_passed(const struct lane *lane)
{
	const struct review_row *last = review_last(lane);

	return lane_plan(lane)->review && lane->row->cause == NULL && last != NULL && strcmp(last->decision, lane_plan(lane)->profile->pass_word) == 0;
}

struct attempt_row *run_attempt(const struct run *run, int64_t id)
{
	struct attempt_row *a = run_rows_attempt(run->rows, id);

	if (a != NULL)
		return a;
	log_fatal("run %lld: attempt %lld does not exist; restore a backup", (long long)run->rows->run.id, (long long)id);
}

bool lane_ending(const struct lane *lane)
{
	return lane->row != NULL ? lane->row->stage == SLOT_S_ENDING : run_cancelling(lane->run);
}

void lane_ended(struct turn *turn, struct lane *lane)
{
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	git_turn_over(turn, lane);
	operation_free(&lane->op);
	if (lane->row != NULL)
		lane_event(turn, lane, SLOT_E_ENDED, "cancelled");
	else if (lane->run->nlanes > 0)
		run_settled(turn, lane->run);	/* its slots may still have something to give back */
	else
		run_event(turn, lane->run, RUN_E_CANCELLED, NULL);
}

void lane_tell_phase(struct turn *turn, const struct lane *lane)
{
	const struct slot_row *row = lane->row;
	bool fixes_it = row->stage == SLOT_S_FIXING && row->failed_check == ROW_NONE && row->message == NULL;

	turn_tell(turn, "slot.phase", row->run, json_pack("{s:I, s:s, s:s*, s:I, s:I, s:I, s:s*, s:s*, s:s*}",
	    "slot", (json_int_t)row->slot,
	    "phase", state_name(&slot_phase_names, (int)slot_row_phase(row)),
	    "task", row->task,
	    "round", (json_int_t)row->round,
	    "fix", (json_int_t)row->fix,
	    "max_reviews", (json_int_t)(row->fixes + 1),
	    "reason", row->wait != WAIT_NOTHING ? row->wait_reason : row->reason,
	    "cause", row->cause,
	    "obstacle", fixes_it ? row->obstacle : NULL));
}

static void settle_task(struct turn *turn, const struct lane *lane, enum slot_event event)
{
	static const enum task_state states[SLOT_STAGES] = {
		[SLOT_S_HELD] = TASK_S_CLAIMED,
		[SLOT_S_IMPLEMENTED] = TASK_S_IMPLEMENTED,
		[SLOT_S_PASSED] = TASK_S_PASSED,
		[SLOT_S_FAILED] = TASK_S_FAILED,
		[SLOT_S_CANCELLED] = TASK_S_CANCELLED,
	};
	struct task_row *task = lane_task(lane);

	if (task == NULL)
		return;
	task->state = event == SLOT_E_RELEASED ? TASK_S_RELEASED : (int)states[lane->row->stage];
	text_set(&task->reason, event == SLOT_E_RELEASED ? lane->row->reason : lane->row->cause);
	turn_put(turn, ROW_TASK, task);
}

static bool is_leave(const char *text)
{
	return text != NULL && (strncmp(text, "accepted: ", strlen("accepted: ")) == 0 || strncmp(text, "known issues: ", strlen("known issues: ")) == 0);
}

/* *to gets what *from has. */
static void move_text(char **to, char **from)
{
	free(*to);
	*to = *from;
	*from = NULL;
}

/* A cause stands with what ended or is held, and with what is accepted already and has only to be committed. When its commit agent is
 * lost, that it was accepted is kept beside until a human sends it back. */
static void set_cause(struct slot_row *row, enum slot_event event, enum slot_stage before, const char *cause)
{
	bool settled = slot_stage_is_end((enum slot_stage)row->stage) || row->stage == SLOT_S_HELD;

	if (event == SLOT_E_LOST_HOLD && before == SLOT_S_COMMIT_AGENT && is_leave(row->cause))
		move_text(&row->reason, &row->cause);
	if (event == SLOT_E_REWORK_COMMIT && is_leave(row->reason))
		move_text(&row->cause, &row->reason);
	else if (settled || event == SLOT_E_ACCEPTED_COMMIT) {
		char *copy = xstrdup(cause != NULL ? cause : event == SLOT_E_COMMITTED || event == SLOT_E_MERGED ? row->cause : NULL);

		free(row->cause);
		row->cause = copy;
	} else if (before == SLOT_S_HELD) {
		text_set(&row->cause, NULL);
	}
}

bool lane_begins_review(const struct lane *lane)
{
	const struct plan *plan = lane_plan(lane);

	return plan->review && lane->row->cause == NULL && (plan->scope == SCOPE_TASK || lane->row->slot == 0);
}

/* A new review begins: its checks are over, and its answer is the last one of however many fixers. */
static void next_round(const struct lane *lane)
{
	struct slot_row *row = lane->row;

	free(row->previous_answer_hash);
	row->previous_answer_hash = row->answer_hash;
	row->answer_hash = xstrdup(run_attempt(lane->run, row->answer)->answer_hash);
	row->check = 0;
	row->failed_check = ROW_NONE;
	row->round++;
}

/* What the fix attempt that begins now is about. */
static void next_fix(const struct lane *lane, enum slot_event event)
{
	struct slot_row *row = lane->row;
	const struct finding_row *item;

	if (event == SLOT_E_FINDINGS) {
		row->fix++;
		row->item = 0;
		/* what a human asked for has been worked on: this is newer */
		text_set(&row->message, NULL);
	}
	if ((event != SLOT_E_FINDINGS && event != SLOT_E_NEXT_FINDING) || lane_plan(lane)->fixer != FIXER_PER_FINDING ||
	    row->failed_check != ROW_NONE || row->obstacle != NULL)
		return;
	item = review_item(lane, row->item);
	row->item = item != NULL ? item->number : 0;
}

static void act(struct turn *turn, struct lane *lane, enum slot_action action, enum slot_event event)
{
	struct slot_row *row = lane->row;
	struct run *run = lane->run;

	switch (action) {
	case SLOT_A_IMPLEMENT:
		attempt_begin(turn, lane, ROLE_IMPLEMENT);
		break;
	case SLOT_A_CHECK:
		if (event == SLOT_E_DONE_CHECKS)
			row->check = 1;
		else if (event == SLOT_E_NEXT_CHECK)
			row->check++;
		attempt_begin(turn, lane, ROLE_CHECK);
		break;
	case SLOT_A_MEASURE:
		if (lane_begins_review(lane))
			next_round(lane);
		turn_act(turn, ACT_GIT, run, lane, GIT_MEASURE);
		break;
	case SLOT_A_CHECKOUT:
		turn_act(turn, ACT_GIT, run, lane, GIT_CHECKOUT);
		break;
	case SLOT_A_REVIEW:
		if (event == SLOT_E_DONE_NO_TREE)
			next_round(lane);
		attempt_begin(turn, lane, ROLE_REVIEW);
		break;
	case SLOT_A_VERIFY:
		turn_act(turn, ACT_GIT, run, lane, GIT_VERIFY);
		break;
	case SLOT_A_JUDGE:
		turn_act(turn, ACT_JUDGE, run, lane, ROW_NONE);
		break;
	case SLOT_A_FIX:
		next_fix(lane, event);
		attempt_begin(turn, lane, ROLE_FIX);
		break;
	case SLOT_A_PIN:
		turn_act(turn, ACT_GIT, run, lane, GIT_PIN);
		break;
	case SLOT_A_COMMIT:
		turn_act(turn, ACT_GIT, run, lane, event == SLOT_E_DONE ? GIT_COMMITTED : GIT_COMMIT);
		break;
	case SLOT_A_HOLD:
		hold_open(turn, lane, lane->hold_kind, row->cause);
		settle_task(turn, lane, event);
		break;
	case SLOT_A_CLAIM:
		turn_act(turn, ACT_SOURCE, run, lane, TASK_OP_CLAIM);
		break;
	case SLOT_A_LAY:
		git_lay(lane);
		turn_act(turn, ACT_GIT, run, lane, GIT_WORKTREE);
		break;
	case SLOT_A_ASK:
		attempt_begin(turn, lane, ROLE_COMMIT);
		break;
	case SLOT_A_MERGE:
		turn_act(turn, ACT_GIT, run, lane, GIT_MERGE);
		break;
	case SLOT_A_END:
		if (lane->pending == PENDING_PROC)
			turn_act(turn, ACT_END, run, lane, lane->id);
		else if (lane->pending == PENDING_SEAT || lane->pending == PENDING_COOLING)
			attempt_unstarted(turn, lane);
		else if (lane->pending == PENDING_TURN || lane->pending == PENDING_WAIT)
			lane_ended(turn, lane);
		break;
	case SLOT_A_SETTLE:
		if (row->stage == SLOT_S_CANCELLED)
			hold_close(turn, lane, HOLD_S_CANCELLED, NULL, NULL);
		settle_task(turn, lane, event);
		/* once more, for now it says which decision was the final one */
		if (lane_plan(lane)->review_log != NULL)
			turn_act(turn, ACT_LOG, run, lane, ROW_NONE);
		if (slot_stage_is_end((enum slot_stage)row->stage))
			leave_begin(turn, lane);
		break;
	}
}

/* The first thing of the slot, when it may begin. */
static void start(struct turn *turn, struct lane *lane)
{
	enum slot_event event = SLOT_E_START;

	/* what an agent picks by itself it claims by itself */
	if (run_source(lane->run) == SOURCE_BEADS && lane->row->task != NULL)
		event = SLOT_E_START_CLAIM;
	else if (lane_plan(lane)->isolation == ISOLATION_WORKTREE)
		event = SLOT_E_START_LAY;
	lane_event(turn, lane, event, NULL);
}

void lane_seated(struct turn *turn, struct lane *lane)
{
	bool cooled = slot_cools(lane->row);

	text_set(&lane->row->reason, NULL);
	turn_put(turn, ROW_SLOT, lane->row);
	if (cooled && !slot_cools(lane->row))
		lane_tell_phase(turn, lane);
	lane->pending = PENDING_NOTHING;
	if (lane->row->stage == SLOT_S_WAITING)
		start(turn, lane);
	else
		turn_act(turn, ACT_COMPOSE, lane->run, lane, lane->row->attempt);
}

/* It does nothing for now. Its slot of the daemon goes to the next, or stays with the run when nobody else of it has one or waits for one. */
void lane_rest(struct turn *turn, struct lane *lane)
{
	struct run *run = lane->run;
	bool last = lane->seated && !run->own.seated;

	for (size_t i = 0; i < run->nlanes; i++)
		last &= run->lanes[i] == lane || (!run->lanes[i]->seated && run->lanes[i]->pending != PENDING_SEAT && run->lanes[i]->pending != PENDING_COOLING &&
		    run->lanes[i]->row->stage != SLOT_S_WAITING);
	if (last && run->rows->run.state == RUN_S_RUNNING) {
		lane->seated = false;
		run->own.seated = true;
	} else if (lane->seated) {
		queue_give(lane);
		turn_act_schedule(turn);
	}
}

/* What an attempt waits for before it starts is its own; a reviewer's outlasts the making of its checkout. */
static void forget_waits(struct slot_row *row)
{
	if (row->stage == SLOT_S_CHECKOUT || slot_cools(row))
		return;
	text_set(&row->cooling, NULL);
	row->retry_at = ROW_NONE;
}

void lane_event(struct turn *turn, struct lane *lane, enum slot_event event, const char *cause)
{
	struct slot_row *row = lane->row;
	enum slot_stage before = (enum slot_stage)row->stage;
	enum slot_phase phase = slot_row_phase(row);
	const struct slot_edge *edge = slot_step(before, event);

	if (edge == NULL) {
		log_bug("run %lld slot %lld: event %s is not expected in stage %s", (long long)row->run, (long long)row->slot,
		    slot_event_name(event), state_name(&slot_stage_names, row->stage));
		return;
	}
	log_debug("run %lld slot %lld: %s in %s leads to %s", (long long)row->run, (long long)row->slot, slot_event_name(event),
	    state_name(&slot_stage_names, row->stage), state_name(&slot_stage_names, (int)edge->next));
	lane_wait_over(turn, lane);
	row->stage = (int)edge->next;
	forget_waits(row);
	set_cause(row, event, before, cause);
	act(turn, lane, edge->action, event);
	turn_put(turn, ROW_SLOT, row);
	/* "cancelled" is told when it is over, not when it begins */
	if (edge->next != SLOT_S_ENDING && (slot_row_phase(row) != phase || slot_stage_is_end(edge->next)))
		lane_tell_phase(turn, lane);
	if ((edge->action != SLOT_A_SETTLE && edge->action != SLOT_A_HOLD) || row->leaving != LEAVING_NOTHING)
		return;
	lane_rest(turn, lane);
	run_settled(turn, lane->run);
}
