/* SPDX-License-Identifier: MIT */
/* The run machine, every cell of it; what the slots and tasks of a run add up to. */
#include <stdio.h>
#include <string.h>

#include "core.h"
#include "core/run.h"
#include "core/slot.h"
#include "proto/memory.h"
#include "tasks.h"

START_TEST(the_table_is_a_function)
{
	for (int event = 0; event < RUN_EVENTS; event++) {
		unsigned seen = 0;

		ck_assert_ptr_nonnull(run_event_name((enum run_event)event));
		for (size_t i = 0; i < run_edges_count; i++) {
			if ((int)run_edges[i].event != event)
				continue;
			ck_assert_uint_eq(seen & run_edges[i].when, 0);
			seen |= run_edges[i].when;
		}
		ck_assert_uint_ne(seen, 0);
	}
}
END_TEST

/* From, event, what is done, to. Everything that is not here is not expected anywhere. */
static const struct cell {
	enum run_state from;
	enum run_event event;
	enum run_action action;
	enum run_state to;
} cells[] = {
	{ RUN_S_QUEUED, RUN_E_START, RUN_A_PREPARE, RUN_S_RUNNING },
	/* an iteration: the source is asked, the slots are filled */
	{ RUN_S_RUNNING, RUN_E_PREPARED, RUN_A_LOAD, RUN_S_RUNNING },
	{ RUN_S_RUNNING, RUN_E_LOADED, RUN_A_BEGIN, RUN_S_RUNNING },
	{ RUN_S_RUNNING, RUN_E_NEXT, RUN_A_LOAD, RUN_S_RUNNING },
	{ RUN_S_RUNNING, RUN_E_ROLL, RUN_A_LOAD, RUN_S_RUNNING },
	{ RUN_S_RUNNING, RUN_E_REVIEW, RUN_A_REVIEW, RUN_S_RUNNING },
	{ RUN_S_RUNNING, RUN_E_PASSED, RUN_A_FINISH, RUN_S_SUCCEEDED },
	{ RUN_S_RUNNING, RUN_E_FAILED, RUN_A_FINISH, RUN_S_FAILED },
	{ RUN_S_RUNNING, RUN_E_HELD, RUN_A_HOLD, RUN_S_HELD },
	/* a human: approve, reject, rework; a reworked run waits in the queue for a slot */
	{ RUN_S_HELD, RUN_E_PASSED, RUN_A_FINISH, RUN_S_SUCCEEDED },
	{ RUN_S_HELD, RUN_E_FAILED, RUN_A_FINISH, RUN_S_FAILED },
	{ RUN_S_HELD, RUN_E_BACK, RUN_A_NONE, RUN_S_RUNNING },
	{ RUN_S_HELD, RUN_E_REWORK, RUN_A_REWORK, RUN_S_QUEUED },
	{ RUN_S_RUNNING, RUN_E_REWORK, RUN_A_REWORK, RUN_S_QUEUED },
	{ RUN_S_QUEUED, RUN_E_RESUME, RUN_A_RESUME, RUN_S_RUNNING },
	/* ... and while it waits there, a human may decide about the rest */
	{ RUN_S_QUEUED, RUN_E_PASSED, RUN_A_FINISH, RUN_S_SUCCEEDED },
	{ RUN_S_QUEUED, RUN_E_FAILED, RUN_A_FINISH, RUN_S_FAILED },
	/* pause: what runs ends by itself, and may have been the last */
	{ RUN_S_RUNNING, RUN_E_PAUSE, RUN_A_PAUSE, RUN_S_PAUSED },
	{ RUN_S_HELD, RUN_E_PAUSE, RUN_A_PAUSE, RUN_S_PAUSED },
	{ RUN_S_PAUSED, RUN_E_PREPARED, RUN_A_YIELD, RUN_S_PAUSED },
	{ RUN_S_PAUSED, RUN_E_UNPAUSE, RUN_A_REWORK, RUN_S_QUEUED },
	{ RUN_S_QUEUED, RUN_E_PREPARED, RUN_A_YIELD, RUN_S_QUEUED },
	{ RUN_S_PAUSED, RUN_E_PASSED, RUN_A_FINISH, RUN_S_SUCCEEDED },
	{ RUN_S_PAUSED, RUN_E_FAILED, RUN_A_FINISH, RUN_S_FAILED },
	{ RUN_S_PAUSED, RUN_E_CANCEL, RUN_A_END, RUN_S_PAUSED },
	{ RUN_S_PAUSED, RUN_E_CANCELLED, RUN_A_FINISH, RUN_S_CANCELLED },
	/* cancel works in every state that is not an end */
	{ RUN_S_QUEUED, RUN_E_CANCEL, RUN_A_FINISH, RUN_S_CANCELLED },
	{ RUN_S_QUEUED, RUN_E_CANCEL_BEGUN, RUN_A_END, RUN_S_QUEUED },
	{ RUN_S_RUNNING, RUN_E_CANCEL, RUN_A_END, RUN_S_RUNNING },
	{ RUN_S_HELD, RUN_E_CANCEL, RUN_A_END, RUN_S_HELD },
	{ RUN_S_QUEUED, RUN_E_CANCELLED, RUN_A_FINISH, RUN_S_CANCELLED },
	{ RUN_S_RUNNING, RUN_E_CANCELLED, RUN_A_FINISH, RUN_S_CANCELLED },
	{ RUN_S_HELD, RUN_E_CANCELLED, RUN_A_FINISH, RUN_S_CANCELLED },
};

START_TEST(every_cell)
{
	for (int state = 0; state < RUN_STATES; state++)
		for (int event = 0; event < RUN_EVENTS; event++) {
			const struct run_edge *edge = run_step((enum run_state)state, (enum run_event)event);
			const struct cell *want = NULL;

			for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
				if ((int)cells[i].from == state && (int)cells[i].event == event)
					want = &cells[i];
			ck_assert_msg((edge == NULL) == (want == NULL), "%s in %s: %s",
			    run_event_name((enum run_event)event),
			    state_name(&run_state_names, state), edge == NULL ? "no edge" : "an edge");
			if (want != NULL)
				ck_assert_msg(edge->action == want->action && edge->next == want->to,
				    "%s in %s", run_event_name((enum run_event)event),
				    state_name(&run_state_names, state));
		}
}
END_TEST

/* What ends a run finishes it, and nothing else does. */
START_TEST(ends_are_finished)
{
	for (size_t i = 0; i < run_edges_count; i++)
		ck_assert_int_eq(run_edges[i].action == RUN_A_FINISH, run_state_is_end(run_edges[i].next));
}
END_TEST

/* What ends is never left, and every other state can be. */
START_TEST(ends_are_ends)
{
	for (int state = 0; state < RUN_STATES; state++) {
		bool left = false;

		for (size_t i = 0; i < run_edges_count; i++)
			left |= (run_edges[i].when & 1u << state) != 0 && (int)run_edges[i].next != state;
		ck_assert_int_eq(left, !run_state_is_end((enum run_state)state));
	}
}
END_TEST

/* slots: stages, "0:" before that of slot 0, "!" behind one that has not given back what it took.
 * tasks: as tests/unit/tasks.h has them. */
static const struct scene {
	const char *name, *slots, *tasks;
	int64_t iteration, iterations;	/* 0: until no task remains */
	enum on_failure on_failure;
	int64_t roll;
	bool more, one_tree, stopped, idle, slot_failed;
	size_t ready;
	const char *spent;		/* NULL: nothing is */
	enum run_event event;
	const char *cause;		/* of the limit */
	enum end_kind kind;		/* of cause */
} scenes[] = {
	{ .name = "a prompt before its slot", .tasks = "t1:open", .ready = 1, .event = RUN_E_NEXT },
	{ .name = "a prompt at work", .slots = "reviewing", .tasks = "t1:claimed", .iteration = 1,
	    .event = RUN_EVENTS },
	{ .name = "a prompt that passed", .slots = "passed", .tasks = "t1:passed", .iteration = 1,
	    .event = RUN_E_PASSED },
	{ .name = "a prompt that failed", .slots = "failed", .tasks = "t1:failed", .iteration = 1,
	    .event = RUN_E_FAILED },
	{ .name = "a prompt that is held", .slots = "held", .tasks = "t1:claimed", .iteration = 1,
	    .one_tree = true, .event = RUN_E_HELD },
	{ .name = "a prompt that was cancelled", .slots = "cancelled", .tasks = "t1:cancelled",
	    .iteration = 1, .event = RUN_E_CANCELLED },
	{ .name = "a prompt in its first and last iteration", .slots = "passed",
	    .tasks = "t1:passed", .iteration = 1, .iterations = 1, .event = RUN_E_PASSED },
	/* whoever still works is waited for */
	{ .name = "another slot works", .slots = "failed checking passed",
	    .tasks = "a:failed b:claimed c:passed", .iteration = 1, .event = RUN_EVENTS },
	{ .name = "another slot is being ended", .slots = "held ending",
	    .tasks = "a:claimed b:claimed", .iteration = 1, .event = RUN_EVENTS },
	{ .name = "another slot waits for one of the daemon", .slots = "waiting passed",
	    .tasks = "a:claimed b:passed", .iteration = 1, .event = RUN_EVENTS },
	{ .name = "it has passed, and its source is being told", .slots = "passed!",
	    .tasks = "a:passed b:open", .iteration = 1, .more = true, .ready = 1, .event = RUN_EVENTS },
	{ .name = "it has failed, and its work tree is being saved", .slots = "failed!",
	    .tasks = "a:failed", .iteration = 1, .event = RUN_EVENTS },
	{ .name = "it was cancelled, and its task is being released", .slots = "cancelled! passed",
	    .tasks = "a:cancelled b:passed", .iteration = 1, .event = RUN_EVENTS },
	/* beads: more iterations, until nothing is left */
	{ .name = "more tasks", .slots = "passed passed", .tasks =
	    "a:passed b:passed c:open d:open<e e:open", .iteration = 1, .ready = 2, .event = RUN_E_NEXT },
	{ .name = "the source may have more", .slots = "passed", .tasks = "a:passed",
	    .iteration = 1, .more = true, .event = RUN_E_NEXT },
	{ .name = "the source had no more", .slots = "passed", .tasks = "a:passed b:done c:taken",
	    .iteration = 1, .event = RUN_E_PASSED,
		.cause = "1 task(s) left to other runs", .kind = END_TASKS_LEFT },
	{ .name = "a source without tasks", .tasks = "", .event = RUN_E_PASSED },
	{ .name = "all done before", .tasks = "a:done b:done", .event = RUN_E_PASSED },
	/* a free slot takes the next task at once */
	{ .name = "a slot is free, and a task is ready", .slots = "passed reviewing", .roll = 2,
	    .tasks = "a:passed b:claimed c:open", .iteration = 1, .ready = 1, .event = RUN_E_ROLL },
	{ .name = "a slot is free, and the source may have more", .slots = "passed reviewing", .roll = 2,
	    .tasks = "a:passed b:claimed", .iteration = 1, .more = true, .event = RUN_E_ROLL },
	{ .name = "a slot is free, and nothing is ready", .slots = "passed reviewing", .roll = 2,
	    .tasks = "a:passed b:claimed c:open<b", .iteration = 1, .event = RUN_EVENTS },
	{ .name = "no slot is free", .slots = "passed fixing waiting", .roll = 2,
	    .tasks = "a:passed b:claimed c:claimed d:open", .iteration = 1, .ready = 1, .event = RUN_EVENTS },
	{ .name = "one that leaves is not free", .slots = "passed! fixing", .roll = 2,
	    .tasks = "a:passed b:claimed c:open", .iteration = 1, .ready = 1, .event = RUN_EVENTS },
	{ .name = "what is held has no slot", .slots = "held fixing", .roll = 2,
	    .tasks = "a:claimed b:claimed c:open", .iteration = 1, .ready = 1, .event = RUN_E_ROLL },
	{ .name = "what is implemented has none", .slots = "implemented fixing", .roll = 2,
	    .tasks = "a:implemented b:claimed c:open<a", .iteration = 1, .ready = 1, .event = RUN_E_ROLL },
	{ .name = "what is being merged has none", .slots = "checking+ fixing", .roll = 2,
	    .tasks = "a:claimed b:claimed c:open", .iteration = 1, .ready = 1, .event = RUN_E_ROLL },
	{ .name = "unless its merged tree is reviewed", .slots = "reviewing+ fixing", .roll = 2,
	    .tasks = "a:claimed b:claimed c:open", .iteration = 1, .ready = 1, .event = RUN_EVENTS },
	{ .name = "as many are merged as work", .slots = "checking+ merging+ fixing", .roll = 2,
	    .tasks = "a:claimed b:claimed c:claimed d:open", .iteration = 1, .ready = 1, .event = RUN_E_ROLL },
	{ .name = "no more are", .slots = "checking+ merging+ checkout+ fixing", .roll = 2,
	    .tasks = "a:claimed b:claimed c:claimed d:claimed e:open", .iteration = 1, .ready = 1,
	    .event = RUN_EVENTS },
	{ .name = "held in the tree of all, and a slot is free", .slots = "held fixing", .roll = 2,
	    .tasks = "a:claimed b:claimed c:open", .iteration = 1, .one_tree = true, .ready = 1, .event = RUN_EVENTS },
	{ .name = "nothing starts after a failure", .slots = "failed fixing", .roll = 2,
	    .tasks = "a:failed b:claimed c:open", .iteration = 1, .on_failure = ON_FAILURE_STOP,
	    .ready = 1, .event = RUN_EVENTS },
	{ .name = "unless it is to continue", .slots = "failed fixing", .roll = 2,
	    .tasks = "a:failed b:claimed c:open", .iteration = 1, .on_failure = ON_FAILURE_CONTINUE,
	    .ready = 1, .event = RUN_E_ROLL },
	{ .name = "nothing starts after a stop marker", .slots = "passed fixing", .roll = 2, .stopped = true,
	    .tasks = "a:released b:claimed c:open", .iteration = 1, .ready = 1, .event = RUN_EVENTS },
	{ .name = "nothing starts without money", .slots = "passed fixing", .roll = 2, .spent = "x",
	    .tasks = "a:passed b:claimed c:open", .iteration = 1, .more = true, .ready = 1, .event = RUN_EVENTS },
	{ .name = "nothing starts beside the review of the whole", .slots = "implemented 0:reviewing",
	    .roll = 2, .tasks = "a:implemented b:open", .iteration = 1, .ready = 1, .event = RUN_EVENTS },
	{ .name = "nothing starts while the run ends", .slots = "cancelled fixing", .roll = 2,
	    .tasks = "a:cancelled b:claimed c:open", .iteration = 1, .ready = 1, .event = RUN_EVENTS },
	{ .name = "none works any more, and a task is ready", .slots = "passed passed", .roll = 2,
	    .tasks = "a:passed b:passed c:open", .iteration = 1, .ready = 1, .event = RUN_E_NEXT },
	/* limits */
	{ .name = "the last iteration, and work left", .slots = "passed",
	    .tasks = "a:passed b:open c:open<b", .iteration = 3, .iterations = 3, .ready = 1,
		.event = RUN_E_FAILED, .cause = "limit: 3 iteration(s), 2 task(s) left", .kind = END_LIMIT },
	{ .name = "no money, and work left", .slots = "passed", .tasks = "a:passed b:open",
	    .iteration = 1, .iterations = 3, .ready = 1, .spent = "$6.00 of $5.00 are spent (max_cost)",
		.event = RUN_E_FAILED, .cause =
		    "limit: $6.00 of $5.00 are spent (max_cost), 1 task(s) left", .kind = END_LIMIT },
	{ .name = "no money, and nothing left", .slots = "passed", .tasks = "a:passed",
	    .iteration = 1, .spent = "x", .event = RUN_E_PASSED },
	{ .name = "no money, and a source that may have more", .slots = "passed",
	    .tasks = "a:passed", .iteration = 1, .more = true, .spent = "x", .event = RUN_E_NEXT },
	{ .name = "no money, and a task that it was missing for", .slots = "failed", .tasks =
	    "a:failed b:open", .iteration = 1, .on_failure = ON_FAILURE_CONTINUE, .ready = 1, .spent = "x",
		.event = RUN_E_FAILED },
	{ .name = "no money, and somebody still works", .slots = "reviewing",
	    .tasks = "a:claimed b:open", .iteration = 1, .ready = 1, .spent = "x", .event = RUN_EVENTS },
	{ .name = "the last iteration but one", .slots = "passed", .tasks = "a:passed b:open",
	    .iteration = 2, .iterations = 3, .ready = 1, .event = RUN_E_NEXT },
	{ .name = "the last iteration, and nothing left", .slots = "passed",
	    .tasks = "a:passed b:passed", .iteration = 3, .iterations = 3, .event = RUN_E_PASSED },
	{ .name = "a limit, and a failure", .slots = "failed passed",
	    .tasks = "a:failed b:passed c:open", .iteration = 1, .iterations = 1,
	    .on_failure = ON_FAILURE_CONTINUE, .ready = 1, .event = RUN_E_FAILED },
	{ .name = "a limit, and a held task", .slots = "held", .tasks = "a:claimed b:open",
	    .iteration = 1, .iterations = 1, .ready = 1, .event = RUN_E_HELD },
	/* a failure */
	{ .name = "stop", .slots = "failed passed", .tasks = "a:failed b:passed c:open", .iteration = 1,
	    .on_failure = ON_FAILURE_STOP, .more = true, .ready = 1, .event = RUN_E_FAILED },
	{ .name = "continue", .slots = "failed passed", .tasks = "a:failed b:passed c:open",
	    .iteration = 1, .on_failure = ON_FAILURE_CONTINUE, .ready = 1, .event = RUN_E_NEXT },
	{ .name = "continue, and ask the source", .slots = "failed", .tasks = "a:failed",
	    .iteration = 1, .on_failure = ON_FAILURE_CONTINUE, .more = true, .event = RUN_E_NEXT },
	{ .name = "continue, to the end", .slots = "passed", .tasks = "a:failed b:passed c:passed",
	    .iteration = 2, .on_failure = ON_FAILURE_CONTINUE, .event = RUN_E_FAILED },
	{ .name = "those who depend on it never start", .slots = "failed",
	    .tasks = "a:failed b:open<a c:open<b d:passed", .iteration = 2,
	    .on_failure = ON_FAILURE_CONTINUE, .event = RUN_E_FAILED },
	{ .name = "those who do not depend on it do", .slots = "failed", .tasks = "a:failed b:open<a c:open",
	    .iteration = 1, .on_failure = ON_FAILURE_CONTINUE, .ready = 1, .event = RUN_E_NEXT },
	{ .name = "continue, and a slot that had no task failed before", .slots = "passed",
	    .tasks = "b:passed", .iteration = 2, .on_failure = ON_FAILURE_CONTINUE, .slot_failed = true,
		.event = RUN_E_FAILED },
	/* held */
	{ .name = "held in the tree of all", .slots = "held passed", .tasks = "a:claimed b:passed c:open",
	    .iteration = 1, .one_tree = true, .ready = 1, .event = RUN_E_HELD },
	{ .name = "held in a tree of its own", .slots = "held passed",
	    .tasks = "a:claimed b:passed c:open", .iteration = 1, .ready = 1, .event = RUN_E_NEXT },
	{ .name = "held, and the rest depends on it", .slots = "held passed",
	    .tasks = "a:claimed b:passed c:open<a", .iteration = 1, .event = RUN_E_HELD },
	{ .name = "held, and nothing else is left", .slots = "held", .tasks = "a:claimed b:passed",
	    .iteration = 2, .event = RUN_E_HELD },
	{ .name = "held, and another one failed: it ends when the human has spoken", .slots = "held failed",
	    .tasks = "a:claimed b:failed c:open", .iteration = 1, .ready = 1, .event = RUN_E_HELD },
	{ .name = "cancelled before held", .slots = "held cancelled",
	    .tasks = "a:claimed b:cancelled", .iteration = 1, .event = RUN_E_CANCELLED },
	/* a stop marker, and an iteration in which nothing was picked */
	{ .name = "a stop marker", .slots = "passed passed", .tasks = "a:released b:passed c:open",
	    .iteration = 1, .more = true, .stopped = true, .ready = 1,
		.event = RUN_E_PASSED, .cause = "stop-marker: 2 task(s) left", .kind = END_STOP_MARKER },
	{ .name = "a stop marker, while a sibling works", .slots = "passed fixing",
	    .tasks = "a:released b:claimed", .iteration = 1, .stopped = true, .event = RUN_EVENTS },
	{ .name = "a stop marker, and a sibling that failed", .slots = "passed failed",
	    .tasks = "a:released b:failed", .iteration = 1, .stopped = true, .event = RUN_E_FAILED },
	{ .name = "a stop marker in the last iteration", .slots = "passed",
	    .tasks = "a:released b:open", .iteration = 2, .iterations = 2, .stopped = true, .ready = 1,
		.event = RUN_E_PASSED, .cause = "stop-marker: 2 task(s) left", .kind = END_STOP_MARKER },
	{ .name = "a stop marker when all is done", .slots = "passed", .tasks = "a:passed",
	    .iteration = 2, .stopped = true, .event = RUN_E_PASSED,
	    .cause = "stop-marker: 0 task(s) left", .kind = END_STOP_MARKER },
	{ .name = "nothing was picked", .slots = "passed passed", .tasks = "a:open b:open",
	    .iteration = 1, .more = true, .idle = true, .ready = 2,
		.event = RUN_E_PASSED, .cause = "nothing was picked: 2 task(s) left", .kind = END_NOT_PICKED },
	{ .name = "nothing was picked, and nothing is left", .slots = "passed", .tasks = "a:taken",
	    .iteration = 1, .idle = true, .event = RUN_E_PASSED,
		.cause = "1 task(s) left to other runs", .kind = END_TASKS_LEFT },
	/* the review of the whole run comes after all tasks, and after what a human
	 * still has to say */
	{ .name = "all is implemented", .slots = "implemented implemented",
	    .tasks = "a:claimed b:claimed", .iteration = 1, .event = RUN_E_REVIEW },
	{ .name = "all is implemented, in two iterations", .slots = "implemented implemented passed",
	    .tasks = "a:claimed b:claimed c:taken", .iteration = 2, .event = RUN_E_REVIEW },
	{ .name = "not all is implemented", .slots = "implemented", .tasks = "a:claimed b:open",
	    .iteration = 1, .ready = 1, .event = RUN_E_NEXT },
	{ .name = "implemented, and one works", .slots = "implemented fixing",
	    .tasks = "a:claimed b:claimed", .iteration = 1, .event = RUN_EVENTS },
	{ .name = "implemented, and one is held", .slots = "implemented held",
	    .tasks = "a:claimed b:claimed", .iteration = 1, .event = RUN_E_HELD },
	{ .name = "implemented, and one failed: review", .slots = "implemented failed",
	    .tasks = "a:claimed b:failed", .iteration = 1, .event = RUN_E_REVIEW },
	{ .name = "implemented, and a stop marker", .slots = "implemented passed",
	    .tasks = "a:claimed b:released", .iteration = 1, .stopped = true, .event = RUN_E_REVIEW },
	{ .name = "implemented, and a limit", .slots = "implemented", .tasks = "a:claimed b:open",
	    .iteration = 1, .iterations = 1, .ready = 1, .event = RUN_E_REVIEW },
	{ .name = "the review of the whole is held", .slots = "implemented 0:held", .tasks =
	    "a:implemented b:open", .iteration = 1, .more = true, .ready = 1, .event = RUN_E_HELD },
	{ .name = "the review of the whole has failed", .slots = "implemented 0:failed",
	    .tasks = "a:implemented b:open", .iteration = 1, .on_failure = ON_FAILURE_CONTINUE,
		.more = true, .ready = 1, .event = RUN_E_FAILED },
	{ .name = "the review of the whole has passed", .slots = "passed 0:passed",
	    .tasks = "a:passed b:open", .iteration = 1, .more = true, .ready = 1, .event = RUN_E_NEXT },
	{ .name = "reviewed as a whole, at the limit", .slots = "passed passed",
	    .tasks = "a:passed b:open", .iteration = 1, .iterations = 1, .ready = 1,
		.event = RUN_E_FAILED, .cause = "limit: 1 iteration(s), 1 task(s) left", .kind = END_LIMIT },
};

static size_t make_slots(const char *text, struct slot_row ***list)
{
	char *copy = xstrdup(text != NULL ? text : ""), *rest = copy;
	size_t count = 0;

	*list = xcalloc(8, sizeof(**list));
	for (char *word = strtok_r(rest, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
		struct slot_row *row = row_new(ROW_SLOT);
		bool reviewer = strncmp(word, "0:", 2) == 0;
		size_t length;

		word += reviewer ? 2 : 0;
		length = strcspn(word, "!+");
		row->merge = word[length] == '+' ? MERGE_JUDGING : MERGE_NOT;
		row->slot = reviewer ? 0 : 1;
		row->leaving = word[length] == '!' ? LEAVING_TASK : LEAVING_NOTHING;
		word[length] = '\0';
		row->stage = state_value(&slot_stage_names, word);
		ck_assert_int_ne(row->stage, -1);
		(*list)[count++] = row;
	}
	free(copy);
	return count;
}

static void expect_scene(const struct scene *scene)
{
	struct slot_row **slots;
	struct task_row **tasks;
	struct loop loop = { .iteration = scene->iteration, .iterations = scene->iterations > 0 ?
	    scene->iterations : ROW_NONE, .on_failure = scene->on_failure,
		.roll = scene->roll, .more = scene->more, .one_tree = scene->one_tree,
		.stopped = scene->stopped, .idle = scene->idle,
		.failed = scene->slot_failed };
	enum run_event event;
	enum end_kind kind;
	size_t ready;
	char *cause;

	if (scene->spent != NULL)
		snprintf(loop.spent, sizeof(loop.spent), "%s", scene->spent);

	loop.nslots = make_slots(scene->slots, &slots);
	loop.ntasks = tasks_make(scene->tasks, &tasks);
	loop.slots = (const struct slot_row *const *)slots;
	loop.tasks = (const struct task_row *const *)tasks;
	event = run_settle(&loop);
	ck_assert_msg(event == scene->event, "%s: %s", scene->name,
	    event == RUN_EVENTS ? "somebody works" : run_event_name(event));
	cause = run_limit_cause(&loop, event, &kind);
	ck_assert_msg(kind == scene->kind, "%s: kind %d", scene->name, (int)kind);
	ck_assert_msg((cause == NULL) == (scene->cause == NULL) && (cause == NULL || strcmp(cause,
	    scene->cause) == 0), "%s: %s", scene->name, cause != NULL ? cause : "no cause");
	free(task_ready(loop.tasks, loop.ntasks, SIZE_MAX, &ready));
	ck_assert_msg(ready == scene->ready, "%s: %zu ready", scene->name, ready);
	free(cause);
	for (size_t i = 0; i < loop.nslots; i++)
		row_free(ROW_SLOT, slots[i]);
	free(slots);
	tasks_free(tasks, loop.ntasks);
}

START_TEST(every_scene)
{
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		expect_scene(&scenes[i]);
}
END_TEST

/* Each stage alone, so that none is forgotten. */
START_TEST(one_slot)
{
	for (int stage = 0; stage < SLOT_STAGES; stage++)
		for (int leaving = 0; leaving < SLOT_LEAVINGS; leaving++) {
			struct slot_row row;
			const struct slot_row *slots[] = { &row };
			struct loop loop = { .slots = slots, .nslots = 1, .iteration = 1, .iterations = ROW_NONE };
			enum run_event want = RUN_EVENTS;

			row_init(ROW_SLOT, &row);
			row.stage = stage;
			row.leaving = leaving;
			ck_assert_int_eq(run_deletes(&loop), leaving == LEAVING_DELETE);
			if (leaving != LEAVING_NOTHING && !slot_row_is_free(&row))
				want = RUN_EVENTS;
			else if (stage == SLOT_S_PASSED)
				want = RUN_E_PASSED;
			else if (stage == SLOT_S_FAILED)
				want = RUN_E_FAILED;	/* also when it had no task */
			else if (stage == SLOT_S_CANCELLED)
				want = RUN_E_CANCELLED;
			else if (stage == SLOT_S_HELD)
				want = RUN_E_HELD;
			else if (stage == SLOT_S_IMPLEMENTED)
				want = RUN_E_REVIEW;
			ck_assert_int_eq(run_settle(&loop), want);
		}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { the_table_is_a_function, every_cell, ends_are_finished,
	    ends_are_ends, every_scene, one_slot };

	return RUN_SUITE("run", tests);
}
