/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine_int.h"

void lane_init(struct lane *lane, struct run *run, struct slot_row *row)
{
	*lane = (struct lane){ .run = run, .row = row, .id = ROW_NONE };
}

void lane_release(struct lane *lane)
{
	git_op_free(lane->op);
	row_free(ROW_STEP, lane->step);
	strings_free(lane->next_env);
	free(lane->lost_detail);
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
	struct run_rows *rows = lane->run->rows;

	for (size_t i = 0; i < rows->ntasks; i++)
		if (strcmp(rows->tasks[i]->id, lane->row->task) == 0)
			return rows->tasks[i];
	log_fatal("run %lld: slot %lld has task %s, which does not exist", (long long)rows->run.id, (long long)lane->row->slot, lane->row->task);
}

struct attempt_row *run_attempt(const struct run *run, int64_t id)
{
	for (size_t i = 0; i < run->rows->nattempts; i++)
		if (run->rows->attempts[i]->id == id)
			return run->rows->attempts[i];
	log_fatal("run %lld: attempt %lld does not exist", (long long)run->rows->run.id, (long long)id);
}

bool lane_ending(const struct lane *lane)
{
	return lane->row != NULL ? lane->row->stage == SLOT_S_ENDING : run_cancelling(lane->run);
}

void lane_ended(struct turn *turn, struct lane *lane)
{
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	git_op_free(lane->op);
	lane->op = NULL;
	if (lane->row != NULL)
		lane_event(turn, lane, SLOT_E_ENDED, "cancelled");
	else
		run_event(turn, lane->run, RUN_E_CANCELLED, NULL);
}

static void tell_phase(struct turn *turn, const struct lane *lane)
{
	const struct slot_row *row = lane->row;

	turn_tell(turn, "slot.phase", row->run, json_pack("{s:I, s:s, s:s*, s:I, s:I, s:I, s:s*, s:s*}",
	    "slot", (json_int_t)row->slot,
	    "phase", state_name(&slot_phase_names, (int)slot_phase((enum slot_stage)row->stage)),
	    "task", row->task,
	    "round", (json_int_t)row->round,
	    "fix", (json_int_t)row->fix,
	    "max_reviews", (json_int_t)(row->fixes + 1),
	    "reason", row->reason,
	    "cause", row->cause));
}

static void settle_task(struct turn *turn, const struct lane *lane)
{
	static const enum task_state states[SLOT_STAGES] = {
		[SLOT_S_HELD] = TASK_S_CLAIMED,
		[SLOT_S_IMPLEMENTED] = TASK_S_CLAIMED,
		[SLOT_S_PASSED] = TASK_S_PASSED,
		[SLOT_S_FAILED] = TASK_S_FAILED,
		[SLOT_S_CANCELLED] = TASK_S_CANCELLED,
	};
	struct task_row *task = lane_task(lane);

	task->state = (int)states[lane->row->stage];
	free(task->reason);
	task->reason = xstrdup(lane->row->cause);
	turn_put(turn, ROW_TASK, task);
}

/* A cause stands with what ended or is held, and with what is accepted already and has only to be committed. */
static void set_cause(struct slot_row *row, enum slot_event event, enum slot_stage before, const char *cause)
{
	bool settled = slot_stage_is_end((enum slot_stage)row->stage) || row->stage == SLOT_S_HELD;

	if (settled || event == SLOT_E_ACCEPTED_COMMIT) {
		char *copy = xstrdup(cause != NULL ? cause : event == SLOT_E_COMMITTED ? row->cause : NULL);

		free(row->cause);
		row->cause = copy;
	} else if (before == SLOT_S_HELD) {
		free(row->cause);
		row->cause = NULL;
	}
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
		free(row->message);
		row->message = NULL;
	}
	if ((event != SLOT_E_FINDINGS && event != SLOT_E_NEXT_FINDING) || lane->run->plan.fixer != FIXER_PER_FINDING || row->failed_check != ROW_NONE)
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
		if (run->plan.review && row->cause == NULL)
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
		turn_act(turn, ACT_GIT, run, lane, GIT_COMMIT);
		break;
	case SLOT_A_HOLD:
		hold_open(turn, lane, lane->hold_kind, row->cause);
		settle_task(turn, lane);
		break;
	case SLOT_A_CLAIM:
	case SLOT_A_LAY:
	case SLOT_A_ASK:
	case SLOT_A_MERGE:
		break;
	case SLOT_A_END:
		if (lane->pending == PENDING_PROC)
			turn_act(turn, ACT_END, run, lane, lane->id);
		break;
	case SLOT_A_SETTLE:
		if (row->stage == SLOT_S_CANCELLED)
			hold_close(turn, lane, HOLD_S_CANCELLED, NULL, NULL);
		settle_task(turn, lane);
		/* once more, for now it says which decision was the final one */
		if (run->plan.review_log != NULL)
			turn_act(turn, ACT_LOG, run, lane, ROW_NONE);
		break;
	}
}

void lane_event(struct turn *turn, struct lane *lane, enum slot_event event, const char *cause)
{
	struct slot_row *row = lane->row;
	enum slot_stage before = (enum slot_stage)row->stage;
	const struct slot_edge *edge = slot_step(before, event);

	if (edge == NULL) {
		log_bug("run %lld slot %lld: event %s is not expected in stage %s", (long long)row->run, (long long)row->slot,
		    slot_event_name(event), state_name(&slot_stage_names, row->stage));
		return;
	}
	log_debug("run %lld slot %lld: %s in %s leads to %s", (long long)row->run, (long long)row->slot, slot_event_name(event),
	    state_name(&slot_stage_names, row->stage), state_name(&slot_stage_names, (int)edge->next));
	row->stage = (int)edge->next;
	set_cause(row, event, before, cause);
	act(turn, lane, edge->action, event);
	turn_put(turn, ROW_SLOT, row);
	/* "cancelled" is told when it is over, not when it begins */
	if (edge->next != SLOT_S_ENDING && (slot_phase(edge->next) != slot_phase(before) || slot_stage_is_end(edge->next)))
		tell_phase(turn, lane);
	if (edge->action == SLOT_A_SETTLE || edge->action == SLOT_A_HOLD)
		run_settled(turn, lane->run);
}
