/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/engine_int.h"
#include "proto/memory.h"
#include "slot/activity_check.h"

void slot_release(struct slot *slot)
{
	operation_release(&slot->op);
	free(slot->lost_detail);
	briefing_release(&slot->briefing);
	if (slot->plan != NULL)
		plan_release(slot->plan);
	free(slot->plan);
}

struct slot *engine_slot_of(struct engine *engine, int64_t id)
{
	struct run *run;

	LIST_FOREACH(run, &engine->runs, entry) {
		if (activity_has_process(&run->own.activity) && run->own.activity.id == id)
			return &run->own;
		for (size_t i = 0; i < run->nslots; i++)
			if (activity_has_process(&run->slots[i]->activity) && run->slots[i]->activity.id == id)
				return run->slots[i];
	}
	return NULL;
}

struct task_row *slot_task(const struct slot *slot)
{
	struct task_row *task;

	if (slot->row->task == NULL)
		return NULL;
	task = run_rows_task(slot->run->rows, slot->row->task);
	if (task == NULL)
		log_fatal("run %lld: slot %lld has task %s, which does not exist; restore a backup", (long long)slot->run->rows->run.id, (long long)slot->row->slot, slot->row->task);
	return task;
}

const char *slot_task_id(const struct slot *slot)
{
	return slot->row->task != NULL ? slot->row->task : "run";
}

/* The settings of its task, where that has some of its own. */
static void load_plan(struct slot *slot)
{
	const struct task_row *task = slot->row != NULL ? slot_task(slot) : NULL;

	if (slot->plan != NULL)
		plan_release(slot->plan);
	free(slot->plan);
	slot->plan = NULL;
	if (task == NULL || task->plan == NULL)
		return;
	slot->plan = xcalloc(1, sizeof(*slot->plan));
	if (plan_from_json(task->plan, slot->plan) == -1)
		log_fatal("run %lld: the settings of task %s cannot be read; restore a backup", (long long)task->run, task->id);
}

void slot_init(struct slot *slot, struct run *run, struct slot_row *row)
{
	*slot = (struct slot){ .run = run, .row = row, .activity = { .id = ROW_NONE, .wake_at = ROW_NONE } };
	load_plan(slot);
}

void slot_set_task(struct slot *slot, const char *task)
{
	char *copy = xstrdup(task);

	free(slot->row->task);
	slot->row->task = copy;
	load_plan(slot);
}

const struct plan *slot_plan(const struct slot *slot)
{
	return slot->plan != NULL ? slot->plan : &slot->run->plan;
}

const char *slot_workspace(const struct slot *slot)
{
	return slot->row != NULL && slot->row->worktree != NULL ? slot->row->worktree : slot->run->rows->run.workspace;
}

char *slot_workdir(const struct slot *slot)
{
	return work_slot_dir(&slot->run->rows->run, slot->row);
}

const char *slot_base_tree(const struct slot *slot)
{
	return slot->row != NULL && slot->row->base_tree != NULL ? slot->row->base_tree : slot->run->rows->run.base_tree;
}

bool slot_has_checkout(const struct slot *slot)
{
	return slot_plan(slot)->workspace == PLACE_SNAPSHOT && slot->run->rows->run.has_git == 1;
}

bool slot_is_merged(const struct slot *slot)
{
	return slot_plan(slot)->integrate == INTEGRATE_MERGE && slot->row->slot != 0 && slot->row->stage == SLOT_S_PASSED && slot->row->commit_id != NULL;
}

bool slot_passed(const struct slot *slot)
{
	const struct review_row *last = review_last(slot);

	return slot_plan(slot)->review && slot->row->cause == NULL && last != NULL && strcmp(last->decision, slot_plan(slot)->profile->pass_word) == 0;
}

struct attempt_row *run_attempt(const struct run *run, int64_t id)
{
	struct attempt_row *a = run_rows_attempt(run->rows, id);

	if (a != NULL)
		return a;
	log_fatal("run %lld: attempt %lld does not exist; restore a backup", (long long)run->rows->run.id, (long long)id);
}

bool slot_ending(const struct slot *slot)
{
	return slot->row != NULL ? slot->row->stage == SLOT_S_ENDING : run_cancelling(slot->run);
}

void slot_ended(struct txn *txn, struct slot *slot)
{
	activity_end(&slot->activity);
	git_turn_over(txn, slot);
	operation_free(&slot->op);
	if (slot->row != NULL)
		slot_event(txn, slot, SLOT_E_ENDED, "cancelled");
	else if (slot->run->nslots > 0)
		run_settled(txn, slot->run);	/* its slots may still have something to give back */
	else
		run_event(txn, slot->run, RUN_E_CANCELLED, NULL);
}

void slot_emit_phase(struct txn *txn, const struct slot *slot)
{
	const struct slot_row *row = slot->row;
	bool fixes_it = row->stage == SLOT_S_FIXING && row->failed_check == ROW_NONE && row->message == NULL;

	txn_emit(txn, "slot.phase", row->run, json_pack("{s:I, s:s, s:s*, s:I, s:I, s:I, s:s*, s:s*, s:s*}",
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

static void settle_task(struct txn *txn, const struct slot *slot, enum slot_event event)
{
	static const enum task_state states[SLOT_STAGES] = {
		[SLOT_S_HELD] = TASK_S_CLAIMED,
		[SLOT_S_IMPLEMENTED] = TASK_S_IMPLEMENTED,
		[SLOT_S_PASSED] = TASK_S_PASSED,
		[SLOT_S_FAILED] = TASK_S_FAILED,
		[SLOT_S_CANCELLED] = TASK_S_CANCELLED,
	};
	struct task_row *task = slot_task(slot);

	if (task == NULL)
		return;
	task->state = event == SLOT_E_RELEASED ? TASK_S_RELEASED : (int)states[slot->row->stage];
	text_set(&task->reason, event == SLOT_E_RELEASED ? slot->row->reason : slot->row->cause);
	txn_put(txn, ROW_TASK, task);
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

bool slot_begins_review(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);

	return plan->review && slot->row->cause == NULL && (plan->scope == SCOPE_TASK || slot->row->slot == 0);
}

/* A new review begins: its checks are over, and its answer is the last one of however many fixers. */
static void next_round(const struct slot *slot)
{
	struct slot_row *row = slot->row;

	free(row->previous_answer_hash);
	row->previous_answer_hash = row->answer_hash;
	row->answer_hash = xstrdup(run_attempt(slot->run, row->answer)->answer_hash);
	row->check = 0;
	row->failed_check = ROW_NONE;
	row->round++;
}

/* What the fix attempt that begins now is about. */
static void next_fix(const struct slot *slot, enum slot_event event)
{
	struct slot_row *row = slot->row;
	const struct finding_row *item;

	if (event == SLOT_E_FINDINGS) {
		row->fix++;
		row->item = 0;
		/* what a human asked for has been worked on: this is newer */
		text_set(&row->message, NULL);
	}
	if ((event != SLOT_E_FINDINGS && event != SLOT_E_NEXT_FINDING) || slot_plan(slot)->fixer != FIXER_PER_FINDING ||
	    row->failed_check != ROW_NONE || row->obstacle != NULL)
		return;
	item = review_item(slot, row->item);
	row->item = item != NULL ? item->number : 0;
}

/* The slot is cancelled: what waits is over at once, a process is told to end, and everything else ends by itself. */
static void end_activity(struct txn *txn, struct slot *slot)
{
	switch (slot->activity.kind) {
	case ACTIVITY_ATTEMPT:
	case ACTIVITY_OPERATION:
		txn_effect(txn, EFFECT_END, slot->run, slot, slot->activity.id);
		break;
	case ACTIVITY_PERMIT:
	case ACTIVITY_ACCOUNT:
		attempt_unstarted(txn, slot);
		break;
	case ACTIVITY_TURN:
	case ACTIVITY_RETRY:
		slot_ended(txn, slot);
		break;
	case ACTIVITY_COMMIT:
	case ACTIVITY_JOB:
	case ACTIVITY_NONE:
	case ACTIVITY_PICK:
	case ACTIVITIES:
		break;
	}
}

static void act(struct txn *txn, struct slot *slot, enum slot_action action, enum slot_event event)
{
	struct slot_row *row = slot->row;
	struct run *run = slot->run;

	switch (action) {
	case SLOT_A_IMPLEMENT:
		attempt_begin(txn, slot, ROLE_IMPLEMENT);
		break;
	case SLOT_A_CHECK:
		if (event == SLOT_E_DONE_CHECKS)
			row->check = 1;
		else if (event == SLOT_E_NEXT_CHECK)
			row->check++;
		attempt_begin(txn, slot, ROLE_CHECK);
		break;
	case SLOT_A_MEASURE:
		if (slot_begins_review(slot))
			next_round(slot);
		txn_effect(txn, EFFECT_GIT, run, slot, GIT_MEASURE);
		break;
	case SLOT_A_CHECKOUT:
		txn_effect(txn, EFFECT_GIT, run, slot, GIT_CHECKOUT);
		break;
	case SLOT_A_REVIEW:
		if (event == SLOT_E_DONE_NO_TREE)
			next_round(slot);
		attempt_begin(txn, slot, ROLE_REVIEW);
		break;
	case SLOT_A_VERIFY:
		txn_effect(txn, EFFECT_GIT, run, slot, GIT_VERIFY);
		break;
	case SLOT_A_JUDGE:
		txn_effect(txn, EFFECT_JUDGE, run, slot, ROW_NONE);
		break;
	case SLOT_A_FIX:
		next_fix(slot, event);
		attempt_begin(txn, slot, ROLE_FIX);
		break;
	case SLOT_A_PIN:
		txn_effect(txn, EFFECT_GIT, run, slot, GIT_PIN);
		break;
	case SLOT_A_COMMIT:
		txn_effect(txn, EFFECT_GIT, run, slot, event == SLOT_E_DONE ? GIT_COMMITTED : GIT_COMMIT);
		break;
	case SLOT_A_HOLD:
		hold_open(txn, slot, slot->hold_kind, row->cause);
		settle_task(txn, slot, event);
		break;
	case SLOT_A_CLAIM:
		txn_effect(txn, EFFECT_SOURCE, run, slot, TASK_OP_CLAIM);
		break;
	case SLOT_A_LAY:
		git_lay(slot);
		txn_effect(txn, EFFECT_GIT, run, slot, GIT_WORKTREE);
		break;
	case SLOT_A_ASK:
		attempt_begin(txn, slot, ROLE_COMMIT);
		break;
	case SLOT_A_MERGE:
		txn_effect(txn, EFFECT_GIT, run, slot, GIT_MERGE);
		break;
	case SLOT_A_END:
		end_activity(txn, slot);
		break;
	case SLOT_A_SETTLE:
		if (row->stage == SLOT_S_CANCELLED)
			hold_close(txn, slot, HOLD_S_CANCELLED, NULL, NULL);
		settle_task(txn, slot, event);
		/* once more, for now it says which decision was the final one */
		if (slot_plan(slot)->review_log != NULL)
			txn_effect(txn, EFFECT_LOG, run, slot, ROW_NONE);
		if (slot_stage_is_end((enum slot_stage)row->stage))
			leave_begin(txn, slot);
		break;
	}
}

/* The first thing of the slot, when it may begin. */
static void start(struct txn *txn, struct slot *slot)
{
	enum slot_event event = SLOT_E_START;

	/* what an agent picks by itself it claims by itself */
	if (run_source(slot->run) == SOURCE_BEADS && slot->row->task != NULL)
		event = SLOT_E_START_CLAIM;
	else if (slot_plan(slot)->isolation == ISOLATION_WORKTREE)
		event = SLOT_E_START_LAY;
	slot_event(txn, slot, event, NULL);
}

void slot_on_permit(struct txn *txn, struct slot *slot)
{
	bool cooled = slot_cools(slot->row);

	text_set(&slot->row->reason, NULL);
	txn_put(txn, ROW_SLOT, slot->row);
	if (cooled && !slot_cools(slot->row))
		slot_emit_phase(txn, slot);
	activity_end(&slot->activity);
	if (slot->row->stage == SLOT_S_WAITING)
		start(txn, slot);
	else
		txn_effect(txn, EFFECT_COMPOSE, slot->run, slot, slot->row->attempt);
}

/* It does nothing for now. Its slot of the daemon goes to the next, or stays with the run when nobody else of it has one or waits for one. */
void slot_release_permit(struct txn *txn, struct slot *slot)
{
	struct run *run = slot->run;
	bool last = slot->has_permit && !run->own.has_permit;

	for (size_t i = 0; i < run->nslots; i++)
		last &= run->slots[i] == slot || (!run->slots[i]->has_permit && run->slots[i]->activity.kind != ACTIVITY_PERMIT && run->slots[i]->activity.kind != ACTIVITY_ACCOUNT &&
		    run->slots[i]->row->stage != SLOT_S_WAITING);
	if (last && run->rows->run.state == RUN_S_RUNNING) {
		slot->has_permit = false;
		run->own.has_permit = true;
	} else if (slot->has_permit) {
		queue_give(slot);
		txn_effect_schedule(txn);
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

void slot_event(struct txn *txn, struct slot *slot, enum slot_event event, const char *cause)
{
	struct slot_row *row = slot->row;
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
	slot_wait_over(txn, slot);
	if (before == SLOT_S_WAITING)
		activity_end(&slot->activity);
	row->stage = (int)edge->next;
	forget_waits(row);
	set_cause(row, event, before, cause);
	act(txn, slot, edge->action, event);
	txn_put(txn, ROW_SLOT, row);
	/* "cancelled" is told when it is over, not when it begins */
	if (edge->next != SLOT_S_ENDING && (slot_row_phase(row) != phase || slot_stage_is_end(edge->next)))
		slot_emit_phase(txn, slot);
	activity_check(slot);
	if ((edge->action != SLOT_A_SETTLE && edge->action != SLOT_A_HOLD) || row->leaving != LEAVING_NOTHING)
		return;
	slot_release_permit(txn, slot);
	run_settled(txn, slot->run);
}
