/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/next_stage.h"
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
		slot_move(txn, slot, SLOT_S_ENDING, SLOT_S_CANCELLED, &(struct move_why){ .cause = "cancelled" });
	else if (slot->run->nslots > 0)
		txn_touch(txn, slot->run);	/* its slots may still have something to give back */
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
static void set_cause(struct slot_row *row, enum slot_stage from, const struct move_why *why)
{
	bool settled = slot_stage_is_end((enum slot_stage)row->stage) || row->stage == SLOT_S_HELD;
	bool committed = from == SLOT_S_COMMITTING || from == SLOT_S_MERGING;

	if (from == SLOT_S_COMMIT_AGENT && row->stage == SLOT_S_HELD && is_leave(row->cause))
		move_text(&row->reason, &row->cause);
	if (from == SLOT_S_HELD && row->stage == SLOT_S_COMMIT_AGENT && is_leave(row->reason)) {
		move_text(&row->cause, &row->reason);
	} else if (settled || why->reason == MOVE_ACCEPTED) {
		char *copy = xstrdup(why->cause == NULL && committed ? row->cause : why->cause);

		free(row->cause);
		row->cause = copy;
	} else if (from == SLOT_S_HELD) {
		text_set(&row->cause, NULL);
	}
}

bool slot_begins_review(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);

	return plan->review && slot->row->cause == NULL && (plan->scope == SCOPE_TASK || slot->row->slot == 0);
}

/* The first stage of the slot. What an agent picks by itself it claims by itself. */
static void slot_begin(struct txn *txn, struct slot *slot)
{
	bool claims = run_source(slot->run) == SOURCE_BEADS && slot->row->task != NULL;

	slot_move(txn, slot, SLOT_S_WAITING, first_stage(slot_plan(slot), claims), NULL);
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
		slot_begin(txn, slot);
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

enum slot_stage slot_stage(const struct slot *slot)
{
	return (enum slot_stage)slot->row->stage;
}

void slot_fail(struct txn *txn, struct slot *slot, const char *cause)
{
	slot_move(txn, slot, slot_stage(slot), SLOT_S_FAILED, &(struct move_why){ .cause = cause });
}

void slot_cancel(struct txn *txn, struct slot *slot)
{
	enum slot_stage stage = slot_stage(slot);

	slot_move(txn, slot, stage, stage_after_cancel(stage), &(struct move_why){ .cause = "cancelled" });
}

/* It waits for a human, for its run, or for nothing any more. */
static bool is_settled(const struct slot_row *row)
{
	bool over = slot_stage_is_end((enum slot_stage)row->stage) && row->leaving == LEAVING_NOTHING;

	return over || row->stage == SLOT_S_HELD || row->stage == SLOT_S_IMPLEMENTED;
}

void slot_move(struct txn *txn, struct slot *slot, enum slot_stage from, enum slot_stage to, const struct move_why *why)
{
	static const struct move_why done;
	struct slot_row *row = slot->row;
	enum slot_phase phase = slot_row_phase(row);
	enum slot_stage entered;

	why = why != NULL ? why : &done;
	slot_wait_over(txn, slot);
	if (!slot_row_move(row, from, to)) {
		log_bug("run %lld slot %lld: stage %s does not follow %s, it is in %s", (long long)row->run, (long long)row->slot,
		    state_name(&slot_stage_names, (int)to), state_name(&slot_stage_names, (int)from),
		    state_name(&slot_stage_names, row->stage));
		return;
	}
	log_debug("run %lld slot %lld: %s, %s: %s", (long long)row->run, (long long)row->slot,
	    state_name(&slot_stage_names, (int)from), move_reason_name(why->reason), state_name(&slot_stage_names, row->stage));
	entered = slot_stage(slot);
	if (from == SLOT_S_WAITING)
		activity_end(&slot->activity);
	forget_waits(row);
	set_cause(row, from, why);
	slot->run->engine->stages[entered].enter(txn, slot, from, why);
	txn_put(txn, ROW_SLOT, row);
	/* "cancelled" is told when it is over, not when it begins */
	if (entered != SLOT_S_ENDING && (slot_row_phase(row) != phase || slot_stage_is_end(entered)))
		slot_emit_phase(txn, slot);
	activity_check(slot);
	/* what was ended at once has settled already */
	if (slot_stage(slot) != entered || !is_settled(row))
		return;
	slot_release_permit(txn, slot);
	txn_touch(txn, slot->run);
}
