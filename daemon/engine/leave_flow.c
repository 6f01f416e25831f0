/* SPDX-License-Identifier: MIT */
/* A slot that has come to its end gives back what it took: its task to the source, closed or released. In a shared work tree it is looked
 * what HEAD has become; a work tree of its own is removed, of which
 * everything is kept that is nowhere else. What cannot be given back is told, and the rest is. */
#include <stdlib.h>

#include "base/memory.h"
#include "engine/engine_int.h"

/* The source is told of a task that a slot of this run has had. Passed stories are written down, others as they were. */
static bool tells_source(const struct lane *lane)
{
	enum source_kind source = run_source(lane->run);

	if (lane->row->task == NULL || lane->row->slot == 0)
		return false;
	return source == SOURCE_BEADS || (source == SOURCE_STORIES && lane->row->stage == SLOT_S_PASSED);
}

static enum slot_leaving after(const struct lane *lane, enum slot_leaving leaving)
{
	if (leaving == LEAVING_NOTHING && tells_source(lane))
		return LEAVING_TASK;
	if (leaving < LEAVING_LOOK && head_is_open(lane))
		return LEAVING_LOOK;
	if (leaving != LEAVING_CLEAR && lane->row->worktree != NULL)
		return LEAVING_CLEAR;
	return LEAVING_NOTHING;
}

static void enter(struct turn *turn, struct lane *lane, enum slot_leaving leaving)
{
	lane->row->leaving = (int)leaving;
	turn_put(turn, ROW_SLOT, lane->row);
	if (leaving != LEAVING_NOTHING)
		turn_act(turn, ACT_LEAVE, lane->run, lane, ROW_NONE);
}

/* What the claim becomes when the source has been told, or there is nobody to tell. */
static void release_claim(struct turn *turn, struct lane *lane)
{
	bool passed = lane->row->stage == SLOT_S_PASSED && lane_task(lane) != NULL && lane_task(lane)->state == TASK_S_PASSED;

	if (lane->row->task != NULL && lane->row->slot != 0)
		run_claim(turn, lane->run, lane->row->task, passed ? CLAIM_S_DONE : CLAIM_S_FREE);
}

void leave_begin(struct turn *turn, struct lane *lane)
{
	if (!tells_source(lane))
		release_claim(turn, lane);
	enter(turn, lane, after(lane, LEAVING_NOTHING));
}

void leave_act(struct lane *lane)
{
	switch ((enum slot_leaving)lane->row->leaving) {
	case LEAVING_TASK:
		source_begin(lane, lane_task(lane)->state == TASK_S_PASSED ? TASK_OP_CLOSE : TASK_OP_RELEASE);
		break;
	case LEAVING_LOOK:
		git_begin(lane, GIT_LOOK);
		break;
	case LEAVING_CLEAR:
		git_begin(lane, GIT_CLEAR);
		break;
	case LEAVING_NOTHING:
	case SLOT_LEAVINGS:
		break;
	}
}

void leave_next(struct turn *turn, struct lane *lane, const char *error)
{
	enum slot_leaving was = (enum slot_leaving)lane->row->leaving;

	if (error != NULL) {
		char *text = xasprintf("task %s: %s", lane_task_id(lane), error);

		run_warn(turn, lane->run, text);
		free(text);
	}
	if (was == LEAVING_TASK)
		release_claim(turn, lane);
	if (was == LEAVING_CLEAR && error == NULL) {
		struct task_row *task = lane_task(lane);

		text_set(&lane->row->worktree, NULL);
		if (task != NULL && task->disk_bytes != ROW_NONE) {
			task->disk_bytes = 0;
			turn_put(turn, ROW_TASK, task);
		}
	}
	enter(turn, lane, after(lane, was));
	if (lane->row->leaving != LEAVING_NOTHING)
		return;
	lane_rest(turn, lane);
	run_settled(turn, lane->run);
}
