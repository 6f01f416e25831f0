/* SPDX-License-Identifier: MIT */
#include "core/run.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/slot.h"
#include "core/tasks.h"
#include "proto/memory.h"

#define IN(state) (1u << RUN_S_##state)
#define WORKING (IN(RUNNING) | IN(PAUSED))

const struct run_edge run_edges[] = {
	/* in         event             action         next */
	{ IN(QUEUED),  RUN_E_START,     RUN_A_PREPARE, RUN_S_RUNNING },
	{ IN(QUEUED),  RUN_E_CANCEL,    RUN_A_FINISH,  RUN_S_CANCELLED },
	{ IN(RUNNING), RUN_E_PREPARED,  RUN_A_LOAD,    RUN_S_RUNNING },
	{ IN(RUNNING), RUN_E_NEXT,      RUN_A_LOAD,    RUN_S_RUNNING },
	{ IN(RUNNING), RUN_E_ROLL,     RUN_A_LOAD,    RUN_S_RUNNING },
	{ IN(RUNNING), RUN_E_LOADED,    RUN_A_BEGIN,   RUN_S_RUNNING },
	{ IN(QUEUED),  RUN_E_CANCEL_BEGUN, RUN_A_END,  RUN_S_QUEUED },
	{ IN(QUEUED),  RUN_E_RESUME,    RUN_A_RESUME,  RUN_S_RUNNING },
	{ IN(QUEUED) | WORKING | IN(HELD), RUN_E_PASSED, RUN_A_FINISH, RUN_S_SUCCEEDED },
	{ IN(QUEUED) | WORKING | IN(HELD), RUN_E_FAILED, RUN_A_FINISH, RUN_S_FAILED },
	{ IN(RUNNING) | IN(HELD), RUN_E_PAUSE, RUN_A_PAUSE, RUN_S_PAUSED },
	{ IN(PAUSED),  RUN_E_PREPARED,  RUN_A_YIELD,   RUN_S_PAUSED },
	{ IN(QUEUED),  RUN_E_PREPARED,  RUN_A_YIELD,   RUN_S_QUEUED },
	{ IN(PAUSED),  RUN_E_UNPAUSE,   RUN_A_REWORK,  RUN_S_QUEUED },
	{ IN(RUNNING), RUN_E_REVIEW,    RUN_A_REVIEW,  RUN_S_RUNNING },
	{ IN(RUNNING), RUN_E_HELD,      RUN_A_HOLD,    RUN_S_HELD },
	{ IN(HELD) | IN(RUNNING), RUN_E_REWORK, RUN_A_REWORK, RUN_S_QUEUED },
	{ IN(HELD),    RUN_E_BACK,      RUN_A_NONE,    RUN_S_RUNNING },
	{ IN(RUNNING), RUN_E_CANCEL,    RUN_A_END,     RUN_S_RUNNING },
	{ IN(PAUSED),  RUN_E_CANCEL,    RUN_A_END,     RUN_S_PAUSED },
	{ IN(HELD),    RUN_E_CANCEL,    RUN_A_END,     RUN_S_HELD },
	{ IN(QUEUED) | WORKING | IN(HELD), RUN_E_CANCELLED, RUN_A_FINISH, RUN_S_CANCELLED },
};
const size_t run_edges_count = sizeof(run_edges) / sizeof(run_edges[0]);

static const char *const event_names[RUN_EVENTS] = {
	[RUN_E_START] = "start",
	[RUN_E_PREPARED] = "prepared",
	[RUN_E_NEXT] = "next",
	[RUN_E_ROLL] = "roll",
	[RUN_E_LOADED] = "loaded",
	[RUN_E_PAUSE] = "pause",
	[RUN_E_UNPAUSE] = "unpause",
	[RUN_E_PASSED] = "passed",
	[RUN_E_FAILED] = "failed",
	[RUN_E_HELD] = "held",
	[RUN_E_REVIEW] = "review",
	[RUN_E_REWORK] = "rework",
	[RUN_E_RESUME] = "resume",
	[RUN_E_BACK] = "back",
	[RUN_E_CANCEL] = "cancel",
	[RUN_E_CANCEL_BEGUN] = "cancel-begun",
	[RUN_E_CANCELLED] = "cancelled",
};

const struct run_edge *run_step(enum run_state state, enum run_event event)
{
	for (size_t i = 0; i < run_edges_count; i++)
		if ((run_edges[i].when & 1u << state) != 0 && run_edges[i].event == event)
			return &run_edges[i];
	return NULL;
}

const char *run_event_name(enum run_event event)
{
	return event_names[event];
}

static bool works(const struct slot_row *slot)
{
	if (slot->leaving != LEAVING_NOTHING)
		return !slot_row_is_free(slot);
	return !slot_stage_is_end((enum slot_stage)slot->stage) && slot->stage != SLOT_S_HELD &&
	    slot->stage != SLOT_S_IMPLEMENTED;
}

bool run_deletes(const struct loop *l)
{
	for (size_t i = 0; i < l->nslots; i++)
		if (l->slots[i]->leaving == LEAVING_DELETE)
			return true;
	return false;
}

static size_t count_slots(const struct loop *l, enum slot_stage stage)
{
	size_t count = 0;

	for (size_t i = 0; i < l->nslots; i++)
		count += l->slots[i]->stage == (int)stage;
	return count;
}

static size_t count_tasks(const struct loop *l, enum task_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < l->ntasks; i++)
		count += l->tasks[i]->state == (int)state;
	return count;
}

static bool has_ready(const struct loop *l)
{
	size_t ready;

	free(task_ready(l->tasks, l->ntasks, 1, &ready));
	return ready > 0;
}

/* Including slots whose agent failed before it had a task. */
static bool has_failed(const struct loop *l)
{
	return l->failed || count_tasks(l, TASK_S_FAILED) > 0 || count_slots(l, SLOT_S_FAILED) > 0;
}

static bool at_limit(const struct loop *l)
{
	return l->spent[0] != '\0' || (l->iterations != ROW_NONE && l->iteration >= l->iterations);
}

/* Whether the review of the run is held or has failed: work started now would pass or fail with the
 * rest, but without a review. */
static bool review_stands(const struct loop *l)
{
	for (size_t i = 0; i < l->nslots; i++)
		if (l->slots[i]->slot == 0 &&
		    (l->slots[i]->stage == SLOT_S_HELD || l->slots[i]->stage == SLOT_S_FAILED))
			return true;
	return false;
}

/* Whether nothing has ended the loop: no marker, no failure, no pending decision. */
static bool is_open(const struct loop *l)
{
	if (l->stopped || l->idle || (has_failed(l) && l->on_failure == ON_FAILURE_STOP))
		return false;
	return !(l->one_tree && count_slots(l, SLOT_S_HELD) > 0) && !review_stands(l);
}

bool run_begins(const struct loop *l)
{
	return is_open(l) && !at_limit(l) && has_ready(l);
}

/* At the limit the source is still asked, to learn whether tasks are left. */
static bool goes_on(const struct loop *l)
{
	return is_open(l) && (l->more || run_begins(l));
}

static size_t count_working(const struct loop *l)
{
	size_t count = 0;

	for (size_t i = 0; i < l->nslots; i++)
		count += works(l->slots[i]);
	return count;
}

/* Those whose merge is judged leave their place to others. As many may do so as there are places:
 * each has a work tree on the disk. */
size_t run_free_slots(const struct loop *l, int64_t parallel)
{
	int64_t working = 0, merging = 0;

	for (size_t i = 0; i < l->nslots; i++) {
		working += works(l->slots[i]);
		merging += works(l->slots[i]) && slot_row_is_merging(l->slots[i]);
	}
	if (merging > parallel)
		merging = parallel;
	return parallel > working - merging ? (size_t)(parallel - working + merging) : 0;
}

/* Whether a free slot takes a task beside those that work. Nothing begins beside the review of the
 * run, which would not cover it. */
static bool rolls(const struct loop *l)
{
	for (size_t i = 0; i < l->nslots; i++)
		if ((l->slots[i]->slot == 0 && works(l->slots[i])) || l->slots[i]->stage == SLOT_S_CANCELLED)
			return false;
	return is_open(l) && !at_limit(l) && run_free_slots(l, l->roll) > 0 && (l->more || has_ready(l));
}

enum run_event run_settle(const struct loop *l)
{
	if (count_working(l) > 0)
		return rolls(l) ? RUN_E_ROLL : RUN_EVENTS;
	if (count_slots(l, SLOT_S_CANCELLED) > 0)
		return RUN_E_CANCELLED;
	if (goes_on(l))
		return RUN_E_NEXT;
	if (count_slots(l, SLOT_S_HELD) > 0)
		return RUN_E_HELD;
	/* whatever has failed, what was implemented is reviewed */
	if (count_slots(l, SLOT_S_IMPLEMENTED) > 0 && !review_stands(l))
		return RUN_E_REVIEW;
	if (has_failed(l))
		return RUN_E_FAILED;
	return at_limit(l) && !l->stopped && !l->idle && has_ready(l) ? RUN_E_FAILED : RUN_E_PASSED;
}

char *run_limit_cause(const struct loop *l, enum run_event event, enum end_kind *kind)
{
	size_t open = count_tasks(l, TASK_S_OPEN), left = open + count_tasks(l, TASK_S_RELEASED);

	*kind = END_STOP_MARKER;
	if (event == RUN_E_PASSED && l->stopped)
		return xasprintf("stop-marker: %zu task(s) left", left);
	*kind = END_NOT_PICKED;
	if (event == RUN_E_PASSED && l->idle && left > 0)
		return xasprintf("nothing was picked: %zu task(s) left", left);
	*kind = END_LIMIT;
	if (event == RUN_E_FAILED && !has_failed(l) && l->spent[0] != '\0')
		return xasprintf(RUN_LIMIT "%s, %zu task(s) left", l->spent, left);
	if (event == RUN_E_FAILED && !has_failed(l) && at_limit(l))
		return xasprintf(RUN_LIMIT "%lld iteration(s), %zu task(s) left", (long long)l->iterations, left);
	*kind = END_TASKS_LEFT;
	if (event == RUN_E_PASSED && open == 0 && count_tasks(l, TASK_S_TAKEN) > 0)
		return xasprintf("%zu task(s) left to other runs", count_tasks(l, TASK_S_TAKEN));
	if (event == RUN_E_PASSED && open > 0)
		return xasprintf("%zu task(s) left, waiting for tasks that are not in this run", open);
	*kind = END_NONE;
	return NULL;
}
