/* SPDX-License-Identifier: MIT */
/* The run machine. Pure.
 *
 *   QUEUED ─START─▶ RUNNING ─PREPARED, NEXT─▶ RUNNING (loads its tasks) ─LOADED─▶ RUNNING (an
 *   iteration begins)
 *                      RUNNING ─PASSED─▶ SUCCEEDED
 *    │  ▲ │ ▲ │ │ ├───FAILED──▶ FAILED
 *    │  │ REWORK │ └─── CANCEL ────┤ │ └───CANCELLED▶ CANCELLED
 *    │  │ └─FAILED │ └─REVIEW─▶ RUNNING (scope "run": slot 0 reviews what the others made)
 *    │  │ ▼ HELD
 *    │  └──────────────────────────────HELD ─PASSED, FAILED─▶ (as a human decided)
 *    ├─RESUME─▶ RUNNING                  │ └─BACK─▶ RUNNING (a human accepted, and there is
 *                                        something to commit)
 *    ├─CANCEL─▶ CANCELLED                └─CANCEL─▶ HELD ─CANCELLED─▶ CANCELLED
 *    ├─CANCEL_BEGUN─▶ QUEUED ─CANCELLED─▶ CANCELLED └─PASSED, FAILED─▶ (sent back, it waited;
 *    meanwhile a human decided about what else was held)
 *
 *   RUNNING ─PAUSE─▶ PAUSED ─UNPAUSE─▶ QUEUED ─RESUME─▶ RUNNING       PAUSED ─PASSED, FAILED─▶
 *                                                                     (what ran was the last)
 *   HELD ─PAUSE─▶ PAUSED   (instead of BACK, when the run is marked as paused: a pause leaves
 *                          a held run held)
 *   PAUSED ─CANCEL─▶ PAUSED ─CANCELLED─▶ CANCELLED
 *
 * PASSED, FAILED, CANCELLED, HELD, NEXT and REVIEW come from run_settle(), which looks at tasks and
 * slots when a slot has settled. A reworked run, and one that was paused, waits in the queue for a
 * slot of the daemon again; it keeps its workspace. */
#ifndef CORE_RUN_H
#define CORE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/row.h"
#include "core/state.h"

enum run_event {
	RUN_E_START,		/* the schedule gave it a slot of the daemon */
	RUN_E_PREPARED,		/* base snapshot and task file are there */
	RUN_E_NEXT,		/* the iteration is over, and there may be more to do */
	RUN_E_LOADED,		/* the source has been asked, and there is something to do */
	RUN_E_PASSED,		/* every task passed */
	RUN_E_FAILED,		/* a task failed, or the run could not be prepared */
	RUN_E_HELD,		/* nothing can go on without a human */
	RUN_E_REVIEW,		/* every task is implemented: now the review of the whole run */
	RUN_E_REWORK,		/* a human's decision leaves something to do that needs a
				 * slot of the daemon */
	RUN_E_RESUME,		/* the schedule gave a reworked run a slot of the daemon */
	RUN_E_BACK,		/* a human's decision leaves something to do that needs no slot */
	RUN_E_PAUSE,		/* somebody said so; what runs ends by itself */
	RUN_E_UNPAUSE,
	RUN_E_CANCEL,		/* somebody said so */
	RUN_E_CANCEL_BEGUN,	/* ... of a queued run that has slots already */
	RUN_E_CANCELLED,	/* and now nothing of it is under way */
	RUN_EVENTS
};

enum run_action {
	RUN_A_PREPARE,
	RUN_A_LOAD,		/* what is there to do */
	RUN_A_BEGIN,		/* an iteration: fill the slots */
	RUN_A_END,		/* cancel every slot */
	RUN_A_HOLD,
	RUN_A_REVIEW,		/* make slot 0 */
	RUN_A_REWORK,		/* wait for a slot of the daemon */
	RUN_A_RESUME,		/* the reworked slots go on */
	RUN_A_PAUSE,		/* what has not begun waits */
	RUN_A_YIELD,		/* it is prepared, and may not go on: its slot of the
				 * daemon is free */
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

/* The edge to take, or NULL: not expected in that state, and nothing changes. */
const struct run_edge *run_step(enum run_state state, enum run_event event);

const char *run_event_name(enum run_event event);

#define RUN_SPENT_MAX 96

/* What a run looks at when one of its slots has settled, or its source has been asked. */
struct loop {
	const struct slot_row *const *slots;	/* of the current iteration, and those of
						 * earlier ones that are held or wait for the
						 * review of the run */
	size_t nslots;
	const struct task_row *const *tasks;
	size_t ntasks;
	int64_t iteration;		/* the last one that has begun */
	int64_t iterations;		/* ROW_NONE: until no task remains */
	enum on_failure on_failure;
	bool more;			/* the source may have tasks that are no rows yet */
	bool one_tree;			/* the slots share a tree, which a held task keeps */
	bool stopped;			/* an agent gave a stop marker, or the source cannot be
					 * asked any more ... */
	bool idle;			/* ... or an iteration found nothing to do */
	bool failed;			/* a slot has failed, perhaps in an earlier iteration, and
					 * perhaps before it had a task */
	char spent[RUN_SPENT_MAX];	/* why nothing more may be started: which budget is
					 * spent; "": none is */
};

#define RUN_LIMIT "limit: "		/* how a cause of END_LIMIT begins */

/* The event that follows from slots and tasks; RUN_EVENTS: a slot still works, also one that is
 * leaving. Cancelled comes before held, held before failed with on_failure = "stop"; then the next
 * iteration; then held, the review of the run, failed, passed. */
enum run_event run_settle(const struct loop *loop);

/* May another iteration begin, now that the source has been asked? */
bool run_begins(const struct loop *loop);

/* Why the run ended with tasks left, malloc'd: "limit: 3 iterations, 5 tasks left", "limit: $5.20
 * of $5.00 are spent (max_cost), 5 tasks left", "stop-marker: 2 tasks left", "nothing was picked: 2
 * tasks left"; NULL: none of these. */
char *run_limit_cause(const struct loop *loop, enum run_event event, enum end_kind *kind);

#endif
