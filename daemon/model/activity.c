/* SPDX-License-Identifier: MIT */
#include "model/activity.h"

#include <stdlib.h>

#include "proto/memory.h"

static const char *const names[ACTIVITIES] = {
	[ACTIVITY_NONE] = "none",
	[ACTIVITY_PERMIT] = "permit",
	[ACTIVITY_ACCOUNT] = "account",
	[ACTIVITY_CHECKS] = "checks",
	[ACTIVITY_PICK] = "pick",
	[ACTIVITY_TRAIN] = "train",
	[ACTIVITY_TURN] = "turn",
	[ACTIVITY_BASELINE] = "baseline",
	[ACTIVITY_PANEL] = "panel",
	[ACTIVITY_RETRY] = "retry",
	[ACTIVITY_COMMIT] = "commit",
	[ACTIVITY_JOB] = "job",
	[ACTIVITY_ATTEMPT] = "attempt",
	[ACTIVITY_OPERATION] = "operation",
};

static void set(struct activity *activity, enum activity_kind kind, int64_t id)
{
	activity->kind = kind;
	activity->id = id;
}

void activity_wait(struct activity *activity, enum activity_kind kind)
{
	set(activity, kind, ROW_NONE);
}

void activity_start_commit(struct activity *activity)
{
	set(activity, ACTIVITY_COMMIT, ROW_NONE);
}

void activity_start_job(struct activity *activity)
{
	set(activity, ACTIVITY_JOB, ROW_NONE);
}

void activity_start_attempt(struct activity *activity, int64_t attempt)
{
	set(activity, ACTIVITY_ATTEMPT, attempt);
}

void activity_start_operation(struct activity *activity, int64_t step)
{
	set(activity, ACTIVITY_OPERATION, step);
}

void activity_end(struct activity *activity)
{
	set(activity, ACTIVITY_NONE, ROW_NONE);
}

bool activity_has_process(const struct activity *activity)
{
	return activity->kind == ACTIVITY_ATTEMPT || activity->kind == ACTIVITY_OPERATION;
}

bool activity_is_busy(const struct activity *activity)
{
	return activity->kind == ACTIVITY_COMMIT || activity->kind == ACTIVITY_JOB || activity_has_process(activity);
}

bool activity_has_begun(const struct activity *activity)
{
	return activity_is_busy(activity) || activity->kind == ACTIVITY_RETRY;
}

const char *activity_name(enum activity_kind kind)
{
	return names[kind];
}

void operation_free(struct operation *op)
{
	git_op_free(op->git);
	task_op_free(op->task);
	op->git = NULL;
	op->task = NULL;
}

void operation_release(struct operation *op)
{
	operation_free(op);
	row_free(ROW_STEP, op->step);
	free(op->patch_hash);
	free(op->next_input);
	strings_wipe(op->next_env);
	*op = (struct operation){ 0 };
}
