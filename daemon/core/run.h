/* SPDX-License-Identifier: MIT */
/* The run machine. Pure.
 *
 *   QUEUED ─START─▶ RUNNING ─PREPARED─▶ RUNNING ─PASSED─▶ SUCCEEDED
 *    │  ▲              │ ▲               │ │ ├───FAILED──▶ FAILED
 *    │  │ REWORK       │ └─── CANCEL ────┤ │ └───CANCELLED▶ CANCELLED
 *    │  │              └─FAILED          │ └─REVIEW─▶ RUNNING   (scope "run": slot 0 reviews what the others made)
 *    │  │                                ▼ HELD
 *    │  └──────────────────────────────HELD ─PASSED, FAILED─▶ (as a human decided)
 *    ├─RESUME─▶ RUNNING                  │ └─BACK─▶ RUNNING   (a human accepted, and there is something to commit)
 *    ├─CANCEL─▶ CANCELLED                └─CANCEL─▶ HELD ─CANCELLED─▶ CANCELLED
 *    └─CANCEL_BEGUN─▶ QUEUED ─CANCELLED─▶ CANCELLED
 *
 * PASSED, FAILED, CANCELLED, HELD and REVIEW come from run_settle(), which looks at the slots when one of them has settled. A reworked
 * run waits in the queue for a slot of the daemon again; it keeps its workspace. */
#ifndef CORE_RUN_H
#define CORE_RUN_H

#include <stddef.h>

#include "core/row.h"
#include "core/state.h"

enum run_event {
	RUN_E_START,		/* the schedule gave it a slot of the daemon */
	RUN_E_PREPARED,		/* base snapshot and task file are there */
	RUN_E_PASSED,		/* every task passed */
	RUN_E_FAILED,		/* a task failed, or the run could not be prepared */
	RUN_E_HELD,		/* nothing can go on without a human */
	RUN_E_REVIEW,		/* every task is implemented: now the review of the whole run */
	RUN_E_REWORK,		/* a human sent a held task back */
	RUN_E_RESUME,		/* the schedule gave a reworked run a slot of the daemon */
	RUN_E_BACK,		/* a human's decision leaves something to do that needs no slot */
	RUN_E_CANCEL,		/* somebody said so */
	RUN_E_CANCEL_BEGUN,	/* ... of a queued run that has slots already */
	RUN_E_CANCELLED,	/* and now nothing of it is under way */
	RUN_EVENTS
};

enum run_action {
	RUN_A_PREPARE,
	RUN_A_BEGIN,		/* first iteration: fill the slots */
	RUN_A_END,		/* cancel every slot */
	RUN_A_HOLD,
	RUN_A_REVIEW,		/* make slot 0 */
	RUN_A_REWORK,		/* let go of the slot of the daemon, wait for one */
	RUN_A_RESUME,		/* the reworked slots go on */
	RUN_A_NONE,
	RUN_A_FINISH
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

/* What the slots of the current iteration add up to. RUN_EVENTS: somebody still works.
 * Cancelled before failed before held before review before passed, and a held slot holds only when nothing else goes on. */
enum run_event run_settle(struct slot_row *const *slots, size_t count);

#endif
