/* SPDX-License-Identifier: MIT */
/* The run machine. Pure.
 *
 *   QUEUED ── START, RESUME ──▶ RUNNING ── PASSED ──▶ SUCCEEDED
 *     ▲  ▲                      │ ▲ │ ▲ └── FAILED ──▶ FAILED
 *     │  │                      │ │ │ └─┐
 *     │  │                      │ │ │   │ PREPARED, NEXT or ROLL (ask the source), LOADED (tasks
 *     │  │                      │ │ └───┘ begin), REVIEW (scope "run": slot 0 reviews the rest)
 *     │  │                 HELD │ │ BACK (a human accepted, and there is something to commit)
 *     │  │                      ▼ │
 *     │  └── REWORK ─────────── HELD ── PASSED, FAILED ──▶ SUCCEEDED, FAILED
 *     │                         │
 *     │           RUNNING, HELD │ PAUSE
 *     │                         ▼
 *     └── UNPAUSE ─────────── PAUSED ── PASSED, FAILED ──▶ SUCCEEDED, FAILED
 *
 *   CANCEL ends a queued run that never started. Otherwise (CANCEL, CANCEL_BEGUN) the run stays in
 *   its state while its slots are ended, and CANCELLED ends it.
 *   A queued run that waits after a rework may also end by PASSED or FAILED, when a human decides
 *   about the rest of its holds.
 *
 * run_settle() yields PASSED, FAILED, CANCELLED, HELD, NEXT and REVIEW from tasks and slots when a
 * slot has settled. A reworked run, and one that was paused, waits in the queue for a permit again;
 * it keeps its workspace. */
#ifndef CORE_RUN_H
#define CORE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/row.h"
#include "core/state.h"

enum run_event {
	RUN_E_START,		/* the scheduler granted a permit */
	RUN_E_PREPARED,		/* base snapshot and task file exist */
	RUN_E_NEXT,		/* nothing works any more, and there may be more to do */
	RUN_E_ROLL,		/* a slot is free beside those that work: likewise */
	RUN_E_LOADED,		/* the source was asked, and there is something to do */
	RUN_E_PASSED,		/* every task passed */
	RUN_E_FAILED,		/* a task failed, or the run could not be prepared */
	RUN_E_HELD,		/* nothing can continue without a decision */
	RUN_E_REVIEW,		/* all tasks are implemented: review the whole run now */
	RUN_E_REWORK,		/* a decision leaves work that needs a permit */
	RUN_E_RESUME,		/* the scheduler granted a permit to a reworked run */
	RUN_E_BACK,		/* a decision leaves work that needs no permit */
	RUN_E_PAUSE,		/* by a user; running attempts finish */
	RUN_E_UNPAUSE,
	RUN_E_CANCEL,		/* by a user */
	RUN_E_CANCEL_BEGUN,	/* ... of a queued run that already has slots */
	RUN_E_CANCELLED,	/* nothing of it is running any more */
	RUN_EVENTS
};

enum run_action {
	RUN_A_PREPARE,
	RUN_A_LOAD,		/* ask the source for tasks */
	RUN_A_BEGIN,		/* fill the slots, of a new iteration or of one that rolls */
	RUN_A_END,		/* cancel all slots */
	RUN_A_HOLD,
	RUN_A_REVIEW,		/* create slot 0 */
	RUN_A_REWORK,		/* wait for a permit */
	RUN_A_RESUME,		/* continue the reworked slots */
	RUN_A_PAUSE,		/* what has not started waits */
	RUN_A_YIELD,		/* prepared, but paused: give the permit back */
	RUN_A_NONE,
	RUN_A_FINISH,
	RUN_ACTIONS
};

struct run_edge {
	unsigned when;		/* mask of 1u << enum run_state */
	enum run_event event;
	enum run_action action;
	enum run_state next;
};

extern const struct run_edge run_edges[];
extern const size_t run_edges_count;

/* The edge to take, or NULL: unexpected in that state, nothing changes. */
const struct run_edge *run_step(enum run_state state, enum run_event event);

const char *run_event_name(enum run_event event);

#define RUN_SPENT_MAX 192

/* State of the outer loop, evaluated when a slot has settled or the source was asked. */
struct loop {
	/* of the current iteration, and earlier ones that are held or wait for the review of the
	 * run */
	const struct slot_row *const *slots;
	size_t nslots;
	const struct task_row *const *tasks;
	size_t ntasks;
	int64_t iteration;		/* number of the newest iteration */
	int64_t iterations;		/* ROW_NONE: until no task remains */
	enum on_failure on_failure;
	bool more;			/* the source may have tasks that are not rows yet */
	/* tasks that may work at a time, if each free slot takes the next at once; 0: it waits for
	 * the end of the iteration */
	int64_t roll;
	bool one_tree;			/* the slots share a tree, which a held task occupies */
	bool stopped;			/* an agent gave a stop marker, or the source cannot be
					 * asked any more ... */
	bool idle;			/* ... or an iteration found nothing to do */
	/* a slot has failed, in any iteration, with or without a task */
	bool failed;
	/* why nothing more may start: the budget that is spent; "": none */
	char spent[RUN_SPENT_MAX];
};

#define RUN_LIMIT "limit: "		/* prefix of a cause of END_LIMIT */

/* The event that follows from slots and tasks; RUN_EVENTS: a slot still works, also one that is
 * leaving and not free yet. ROLL: a slot still works, and another one is free. Cancelled comes
 * before held, held before failed with on_failure = "stop"; then what is next; then held, the
 * review of the run, failed, passed. */
enum run_event run_settle(const struct loop *loop);

/* Whether a work tree is still being deleted, which the end of the run waits for. */
bool run_deletes(const struct loop *loop);

/* Whether a task may begin, after the source was asked. */
bool run_begins(const struct loop *loop);
/* How many tasks may begin beside those at work. Agents are at work on at most parallel of them; as
 * many again may be merging. */
size_t run_free_slots(const struct loop *loop, int64_t parallel);

/* Why the run ended with tasks left, malloc'd: "limit: 3 iterations, 5 tasks left", "limit: $5.20
 * of $5.00 are spent (max_cost), 5 tasks left", "stop-marker: 2 tasks left", "nothing was picked: 2
 * tasks left"; NULL: none of these. */
char *run_limit_cause(const struct loop *loop, enum run_event event, enum end_kind *kind);

#endif
