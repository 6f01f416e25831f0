/* SPDX-License-Identifier: MIT */
#include "model/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/plan_json.h"
#include "model/dirs.h"
#include "model/runs.h"
#include "proto/memory.h"

void slot_forget_known(struct slot *slot)
{
	for (size_t i = 0; i < slot->nknown; i++)
		row_free(ROW_EVIDENCE, slot->known[i]);
	free(slot->known);
	slot->known = NULL;
	slot->nknown = 0;
}

void slot_release(struct slot *slot)
{
	slot_forget_known(slot);
	operation_release(&slot->op);
	free(slot->lost_detail);
	launch_free(slot->launch);
	briefing_release(&slot->briefing);
	if (slot->plan != NULL)
		plan_release(slot->plan);
	free(slot->plan);
}

const struct task_row *slot_task(const struct slot *slot)
{
	const struct task_row *task;

	if (slot->row->task == NULL)
		return NULL;
	task = run_rows_task(slot->run->rows, slot->row->task);
	if (task == NULL)
		log_fatal("run %lld: slot %lld has task %s, which does not exist; restore a backup",
		    (long long)slot->run->rows->run.id, (long long)slot->row->slot, slot->row->task);
	return task;
}

const char *slot_task_id(const struct slot *slot)
{
	if (slot->row->task != NULL)
		return slot->row->task;
	return slot_is_baseline(slot) ? SLOT_BASE_ID : SLOT_WHOLE_RUN;
}

void slot_load_plan(struct slot *slot)
{
	const struct task_row *task = slot->row != NULL ? slot_task(slot) : NULL;
	bool own;

	if (slot->plan != NULL)
		plan_release(slot->plan);
	free(slot->plan);
	slot->plan = NULL;
	own = task != NULL && task->plan != NULL;
	if (!own && (slot->row == NULL || slot->row->reviewer == NULL))
		return;
	slot->plan = xcalloc(1, sizeof(*slot->plan));
	if (plan_from_json(own ? task->plan : slot->run->rows->run.plan, slot->plan) == -1)
		log_fatal("run %lld: cannot read the settings of task %s; restore a backup",
		    (long long)slot->row->run, slot_task_id(slot));
	if (slot->row->reviewer != NULL)
		plan_take_reviewer(slot->plan, slot->row->reviewer);
}

void slot_row_init(struct slot_row *row, const struct run *run, int64_t number, const char *task)
{
	row->run = run->rows->run.id;
	row->iteration = run->rows->run.iteration;
	row->slot = number;
	row->stage = SLOT_S_WAITING;
	row->leaving = LEAVING_NOTHING;
	row->task = xstrdup(task);
	row->round = row->fix = row->stalled = row->interrupted = row->retries = row->check = row->item =
	    row->gap = row->setup = row->setup_lost = row->prepares = row->base = row->hook_changes = 0;
}

void slot_init(struct slot *slot, struct run *run, const struct slot_row *row)
{
	*slot = (struct slot){ .run = run, .row = row, .activity = { .id = ROW_NONE, .wake_at = ROW_NONE } };
	slot_load_plan(slot);
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
	return dirs_slot(&slot->run->rows->run, slot->row);
}

const char *slot_base_tree(const struct slot *slot)
{
	return slot->row != NULL && slot->row->base_tree != NULL ? slot->row->base_tree :
	    slot->run->rows->run.base_tree;
}

bool object_is(const char *id, const char *other)
{
	return id != NULL && other != NULL && strcmp(id, other) == 0;
}

bool slot_has_work(const struct slot *slot)
{
	return slot->row->answer != ROW_NONE || slot->row->product != ROW_NONE;
}

bool slot_has_checkout(const struct slot *slot)
{
	return slot_plan(slot)->workspace == REVIEW_IN_ROOM && slot->run->rows->run.has_git == 1;
}

bool slot_checks_room(const struct slot *slot)
{
	return plan_checks_room(slot_plan(slot)) && slot->run->rows->run.has_git == 1;
}

/* A work tree is prepared before the first round, a room in one. */
bool slot_prepares_room(const struct slot *slot)
{
	return slot->row->round > 0 || slot->row->base == BASE_CHECKING || slot_judges_merge(slot);
}

bool slot_starts_writing(const struct slot *slot)
{
	const struct attempt_row *a = slot->row != NULL ?
	    run_rows_attempt(slot->run->rows, slot->row->attempt) : NULL;

	return a != NULL && (a->role == ROLE_IMPLEMENT || a->role == ROLE_FIX) && a->state == ATTEMPT_S_STARTING;
}

bool slot_reruns_check(const struct slot *slot)
{
	const struct slot_row *row = slot->row;

	return row->red_check != ROW_NONE && row->check > 0 &&
	    text_equal(run_rows_attempt(slot->run->rows, row->red_check)->agent,
	    slot_plan(slot)->checks[row->check - 1]);
}

bool slot_replays_checks(const struct slot *slot)
{
	return slot->row->red_check != ROW_NONE && !slot_reruns_check(slot);
}

bool slot_judges_merge(const struct slot *slot)
{
	return slot->row != NULL && (slot->row->merge == MERGE_JUDGING || slot->row->merge == MERGE_SUSPECTED);
}

bool slot_checks_merge(const struct slot *slot)
{
	return slot_judges_merge(slot) && slot_plan(slot)->review_merged != REVIEW_MERGED_ALWAYS;
}

bool slot_holds_merge_back(const struct slot *slot)
{
	bool red = slot->row->accepted != ACCEPTED_BY_NONE && slot->row->failed_check != ROW_NONE;

	return plan_judges_merges(slot_plan(slot)) && slot->row->slot != 0 && !red;
}

bool slot_is_baseline(const struct slot *slot)
{
	return slot->row->slot == SLOT_BASELINE;
}

bool slot_is_voter(const struct slot *slot)
{
	return slot->row != NULL && slot->row->voter_of != ROW_NONE;
}

bool slot_is_beside(const struct slot *slot)
{
	return slot_row_is_beside(slot->row);
}

bool slot_is_whole(const struct slot *slot)
{
	return slot_row_work(slot->row) == 0;
}

bool slot_has_attempt(const struct slot *slot, const struct attempt_row *a)
{
	return a->iteration == slot->row->iteration && a->slot == slot_row_work(slot->row);
}

bool slot_reuses_room(const struct slot *slot)
{
	return slot_plan(slot)->room == ROOM_REUSE && !slot_is_baseline(slot);
}

/* Git and commands are at work. */
bool slot_spares_permit(const struct slot *slot)
{
	enum slot_stage stage = (enum slot_stage)slot->row->stage;
	bool room = stage == SLOT_S_CHECKOUT || stage == SLOT_S_PREPARING || stage == SLOT_S_CHECKING;

	if (slot_is_baseline(slot) || (slot_judges_merge(slot) && room))
		return true;
	return stage == SLOT_S_SETTING_UP || stage == SLOT_S_MERGING ||
	    (stage == SLOT_S_PREPARING && slot->row->setup > 0);
}

/* What was merged since is coders' work. */
const char *slot_prepared_tree(const struct slot *slot)
{
	const char *base = slot->run->rows->run.base_tree;

	return base != NULL ? base : slot_base_tree(slot);
}

const char *slot_room_tree(const struct slot *slot)
{
	if (slot->row->prepares == PREPARES_BASE)
		return slot_prepared_tree(slot);
	return slot->row->base == BASE_CHECKING ? slot_base_tree(slot) : slot->row->tree;
}

bool slot_is_merged(const struct slot *slot)
{
	return slot_plan(slot)->integrate == INTEGRATE_MERGE && slot->row->slot != 0 &&
	    slot->row->stage == SLOT_S_PASSED && slot->row->commit_id != NULL;
}

bool slot_begins_review(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);

	return plan->review && slot->row->cause == NULL && (plan->scope == SCOPE_TASK || slot->row->slot == 0);
}
