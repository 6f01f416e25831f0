/* SPDX-License-Identifier: MIT */
#include "core/cause.h"

#include <assert.h>

#include "proto/memory.h"

static void cause_put(char **text, int *kind, struct cause cause)
{
	assert((cause.text == NULL) == (cause.kind == END_NONE));
	text_set(text, cause.text);
	*kind = (int)cause.kind;
}

static void reason_put(char **text, int *kind, struct reason reason)
{
	assert((reason.text == NULL) == (reason.kind == WAIT_NOTHING));
	text_set(text, reason.text);
	*kind = (int)reason.kind;
}

struct cause run_cause(const struct run_row *run)
{
	return CAUSE((enum end_kind)run->end_kind, run->cause);
}

struct cause slot_cause(const struct slot_row *slot)
{
	return CAUSE((enum end_kind)slot->end_kind, slot->cause);
}

struct cause task_cause(const struct task_row *task)
{
	return CAUSE((enum end_kind)task->end_kind, task->reason);
}

struct cause attempt_row_cause(const struct attempt_row *attempt)
{
	return CAUSE((enum end_kind)attempt->end_kind, attempt->cause);
}

void run_set_cause(struct run_row *run, struct cause cause)
{
	cause_put(&run->cause, &run->end_kind, cause);
}

void slot_set_cause(struct slot_row *slot, struct cause cause)
{
	cause_put(&slot->cause, &slot->end_kind, cause);
}

void task_set_cause(struct task_row *task, struct cause cause)
{
	cause_put(&task->reason, &task->end_kind, cause);
}

void attempt_set_cause(struct attempt_row *attempt, struct cause cause)
{
	cause_put(&attempt->cause, &attempt->end_kind, cause);
}

void run_set_reason(struct run_row *run, struct reason reason)
{
	reason_put(&run->reason, &run->wait_kind, reason);
}

void slot_set_reason(struct slot_row *slot, struct reason reason)
{
	reason_put(&slot->reason, &slot->wait_kind, reason);
}

bool run_has_reason(const struct run_row *run, struct reason reason)
{
	return run->wait_kind == (int)reason.kind && text_equal(run->reason, reason.text);
}

bool slot_has_reason(const struct slot_row *slot, struct reason reason)
{
	return slot->wait_kind == (int)reason.kind && text_equal(slot->reason, reason.text);
}

enum accepted end_accepted(enum end_kind kind)
{
	static const enum accepted by[ENDS] = {
		[END_WAIVED] = ACCEPTED_BY_POLICY,
		[END_APPROVED] = ACCEPTED_BY_HUMAN,
		[END_KNOWN_ISSUES] = ACCEPTED_WITH_ISSUES,
	};

	return by[kind];
}

const char *skip_text(enum skip_kind kind)
{
	static const char *const texts[SKIPS] = {
		[SKIP_OFF] = "review is off",
		[SKIP_PROMPT] = "reviewer_prompt = none",
		[SKIP_FLAG] = "--skip-review flag set",
		[SKIP_BY_TASK] = "each task of the workflow has its own, or none",
		[SKIP_NO_CHANGE] = NO_CHANGE ", and run.on_no_change is \"pass\"",
		[SKIP_FAILED] = "implement not successful",
		[SKIP_STOP_MARKER] = "the agent gave a stop marker",
		[SKIP_NOT_PICKED] = "no task was picked",
	};

	return texts[kind];
}
