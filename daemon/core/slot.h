/* SPDX-License-Identifier: MIT */
/* The slot machine: one task on its way through implement, review and fix. Pure.
 *
 *                                       review off: DONE_UNREVIEWED
 *   WAITING ─START─▶ IMPLEMENTING ──────────────────────────────────────▶ PASSED
 *                         │ DONE                    MEASURED_UNREVIEWED ──▲  ▲
 *                         ▼                                │                 │ PINNED
 *   FIXING ──DONE──▶ MEASURING ─MEASURED─▶ REVIEWING       │              PINNING
 *      ▲                  └────────────────────│───────────┘                 ▲
 *      │                                       │ ANSWERED                    │ PASS
 *      └────────────────FINDINGS────────── VERIFYING ────────────────────────┘
 *
 *   any working stage ─FAILED, EXHAUSTED, STALLED, VIOLATION, LOST_FAIL─▶ FAILED
 *   an attempt stage  ─LOST_HOLD─▶ HELD      ─LOST_RETRY─▶ the same stage, a new attempt
 *   any working stage ─CANCEL─▶ ENDING ─ENDED─▶ CANCELLED
 *
 * Guards are resolved before the table: attempt_classify() and review_classify() name one event.
 * In every stage at most one thing of the slot is under way: an attempt, a git operation or file work. */
#ifndef CORE_SLOT_H
#define CORE_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/state.h"

enum slot_event {
	SLOT_E_START,
	SLOT_E_DONE,			/* implement or fix attempt succeeded */
	SLOT_E_DONE_UNREVIEWED,		/* implement succeeded, and no review is wanted */
	SLOT_E_MEASURED,		/* tree and diff under review are known */
	SLOT_E_MEASURED_UNREVIEWED,	/* the tree shows that denied permissions did not stop the work; no review */
	SLOT_E_ANSWERED,		/* the reviewer ended cleanly */
	SLOT_E_PASS,
	SLOT_E_FINDINGS,
	SLOT_E_EXHAUSTED,
	SLOT_E_STALLED,
	SLOT_E_VIOLATION,
	SLOT_E_PINNED,
	SLOT_E_FAILED,			/* an attempt or a git operation failed */
	SLOT_E_LOST_HOLD,		/* the attempt is lost, and on_lost says ... */
	SLOT_E_LOST_RETRY,
	SLOT_E_LOST_FAIL,
	SLOT_E_CANCEL,
	SLOT_E_ENDED,			/* what was under way when the cancel came is over */
	SLOT_EVENTS
};

enum slot_action {
	SLOT_A_IMPLEMENT,
	SLOT_A_MEASURE,
	SLOT_A_REVIEW,
	SLOT_A_VERIFY,
	SLOT_A_FIX,
	SLOT_A_PIN,
	SLOT_A_END,			/* end what is under way */
	SLOT_A_SETTLE			/* the slot is over or held: let the run decide */
};

struct slot_edge {
	unsigned when;			/* mask of 1u << enum slot_stage */
	enum slot_event event;
	enum slot_action action;
	enum slot_stage next;
};

extern const struct slot_edge slot_edges[];
extern const size_t slot_edges_count;

/* The edge to take, or NULL: the event is not expected in that stage, and nothing changes. */
const struct slot_edge *slot_step(enum slot_stage stage, enum slot_event event);

const char *slot_event_name(enum slot_event event);

/* The phase that users see. */
enum slot_phase slot_phase(enum slot_stage stage);

/* passed, failed, cancelled */
bool slot_stage_is_end(enum slot_stage stage);

#endif
