/* SPDX-License-Identifier: MIT */
/* The slot machine: one task on its way through implement, check, review and fix. Pure.
 *
 *   WAITING ─START─▶ IMPLEMENTING   ─START_CLAIM─▶ CLAIMING   ─START_LAY─▶ LAYING
 *           ─START_REVIEW─▶ MEASURING   (slot 0: the review of the whole run)   ─LET_GO─▶ PASSED   (the run goes no further; without a task)
 *   CLAIMING ─CLAIMED─▶ IMPLEMENTING   ─CLAIMED_LAY─▶ LAYING   ─TAKEN_NEXT─▶ CLAIMING (another task)   ─TAKEN─▶ PASSED (without a task)
 *   LAYING ─LAID─▶ IMPLEMENTING   ─LAID_REVIEW─▶ MEASURING, or what the work of a round leads to
 *
 *   IMPLEMENTING, FIXING ─DONE─────────────▶ MEASURING   (tree and diff of the work)
 *                        ─DONE_CHECKS──────▶ CHECKING    (there are checks)
 *                        ─DONE_NO_TREE─────▶ REVIEWING   (no git)
 *   IMPLEMENTING ─DONE_UNREVIEWED─▶ PASSED       ─DONE_LATER─▶ IMPLEMENTED   (slot 0 will review it)
 *   IMPLEMENTING, FIXING ─RELEASED─▶ PASSED (a stop marker, or nothing was picked: without a task)
 *   FIXING ─NEXT_FINDING─▶ FIXING                                            (one fixer per finding)
 *
 *   CHECKING ─NEXT_CHECK─▶ CHECKING   ─DONE─▶ MEASURING   ─DONE_NO_TREE─▶ REVIEWING   ─FINDINGS─▶ FIXING
 *   MEASURING ─MEASURED─▶ REVIEWING   ─MEASURED_CHECKOUT─▶ CHECKOUT ─CHECKED_OUT─▶ REVIEWING
 *             ─MEASURED_UNREVIEWED─▶ PASSED   ─MEASURED_LATER─▶ IMPLEMENTED   ─MEASURED_COMMIT─▶ COMMITTING   ─MEASURED_ASK─▶ COMMIT_AGENT
 *   REVIEWING ─ANSWERED─▶ VERIFYING  (git, then the verdict)   ─ANSWERED_NO_TREE─▶ VERIFYING  (the verdict)
 *   VERIFYING ─PASS─▶ PINNING   ─PASS_COMMIT─▶ COMMITTING   ─PASS_ASK─▶ COMMIT_AGENT   ─PASS_NO_TREE─▶ PASSED   ─FINDINGS─▶ FIXING
 *   COMMIT_AGENT ─DONE─▶ COMMITTING
 *   COMMITTING ─COMMITTED─▶ PASSED   ─COMMITTED_PIN─▶ PINNING   ─COMMITTED_MERGE─▶ MERGING   ─FINDINGS─▶ FIXING (a hook said no)
 *   MERGING ─MERGED─▶ PASSED   ─MERGED_PIN─▶ PINNING   ─MERGED_LATER─▶ IMPLEMENTED   ─FINDINGS─▶ FIXING (a conflict)
 *   PINNING ─PINNED─▶ PASSED
 *   What a verdict passed is pinned last: a hook or a conflict may still send it back, and what is pinned is never touched again.
 *
 *   bad ends of CHECKING, REVIEWING, VERIFYING, as the policy says; of COMMITTING and MERGING, HOLD:
 *      ─FAILED─▶ FAILED   ─HOLD─▶ HELD   ─ACCEPTED─▶ PASSED   ─ACCEPTED_COMMIT─▶ MEASURING ─MEASURED_COMMIT─▶ COMMITTING
 *   HELD ─ACCEPTED─▶ PASSED   ─ACCEPTED_COMMIT─▶ MEASURING   ─FAILED─▶ FAILED   ─REWORK_x─▶ a new attempt x
 *   IMPLEMENTED ─RUN_PASSED─▶ PASSED   ─FAILED─▶ FAILED
 *   an attempt stage ─LOST_HOLD─▶ HELD   ─LOST_RETRY─▶ the same stage, a new attempt   ─LOST_FAIL─▶ FAILED
 *                    ─AGAIN─▶ the same stage, a new attempt   (its service or the host did not serve it; the attempt waits before it starts)
 *   REVIEWING ─LOST_CHECKOUT, AGAIN_CHECKOUT─▶ CHECKOUT, HELD ─REWORK_CHECKOUT─▶ CHECKOUT   (the lost reviewer has worked in its checkout)
 *   any working stage ─FAILED─▶ FAILED   ─CANCEL─▶ ENDING ─ENDED─▶ CANCELLED
 *
 * Guards are resolved before the table: the functions of core/review.h name one event.
 * In every stage at most one thing of the slot is under way: an attempt, a git operation or file work. */
#ifndef CORE_SLOT_H
#define CORE_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/row.h"
#include "core/state.h"

enum slot_event {
	SLOT_E_START,
	SLOT_E_START_CLAIM,		/* ... once the source has been told */
	SLOT_E_START_LAY,		/* ... in a work tree of its own */
	SLOT_E_START_REVIEW,		/* slot 0: everything has been implemented */
	SLOT_E_CLAIMED,
	SLOT_E_CLAIMED_LAY,
	SLOT_E_TAKEN_NEXT,		/* somebody else has it; there is another task */
	SLOT_E_TAKEN,			/* ... there is none */
	SLOT_E_LET_GO,			/* a sibling failed or gave a stop marker before this one began */
	SLOT_E_LAID,
	SLOT_E_LAID_REVIEW,		/* slot 0 */
	SLOT_E_RELEASED,		/* the agent says that there is nothing to do, or has picked nothing */
	SLOT_E_DONE,			/* the work of the round is done: next its tree */
	SLOT_E_DONE_CHECKS,		/* ... next the checks */
	SLOT_E_DONE_NO_TREE,		/* ... next the review, since there is no git */
	SLOT_E_DONE_UNREVIEWED,		/* implement succeeded, and neither review nor commit is wanted */
	SLOT_E_DONE_LATER,		/* implement succeeded, and the run is reviewed as a whole */
	SLOT_E_NEXT_FINDING,		/* one finding was fixed, there are more */
	SLOT_E_NEXT_CHECK,		/* one check passed, there are more */
	SLOT_E_MEASURED,		/* tree and diff under review are known */
	SLOT_E_MEASURED_CHECKOUT,	/* ... and the reviewer gets a checkout of its own */
	SLOT_E_MEASURED_UNREVIEWED,	/* the tree shows that denied permissions did not stop the work; no review */
	SLOT_E_MEASURED_LATER,		/* ... and the run is reviewed as a whole */
	SLOT_E_MEASURED_COMMIT,		/* no review, or accepted already; what changed is committed */
	SLOT_E_MEASURED_ASK,		/* ... by an agent */
	SLOT_E_CHECKED_OUT,
	SLOT_E_ANSWERED,		/* the reviewer ended cleanly */
	SLOT_E_ANSWERED_NO_TREE,	/* ... and there is no git to ask whether it changed the tree */
	SLOT_E_PASS,
	SLOT_E_PASS_COMMIT,		/* ... and what changed is committed */
	SLOT_E_PASS_ASK,		/* ... by an agent */
	SLOT_E_PASS_NO_TREE,		/* no git: nothing to pin */
	SLOT_E_FINDINGS,
	SLOT_E_ACCEPTED,		/* by leave: of the policy, of a human */
	SLOT_E_ACCEPTED_COMMIT,		/* ... and the result is committed */
	SLOT_E_HOLD,			/* a human is to decide */
	SLOT_E_PINNED,
	SLOT_E_COMMITTED,		/* and that was all */
	SLOT_E_COMMITTED_PIN,		/* a verdict passed it */
	SLOT_E_COMMITTED_MERGE,
	SLOT_E_MERGED,
	SLOT_E_MERGED_PIN,
	SLOT_E_MERGED_LATER,		/* the run is reviewed as a whole */
	SLOT_E_RUN_PASSED,		/* slot 0 passed */
	SLOT_E_FAILED,
	SLOT_E_LOST_HOLD,		/* the attempt is lost, and on_lost says ... */
	SLOT_E_LOST_RETRY,
	SLOT_E_LOST_CHECKOUT,		/* ... retry, and its checkout is no longer what is under review */
	SLOT_E_LOST_FAIL,
	SLOT_E_AGAIN,			/* its service or the host did not serve it: the same again, later */
	SLOT_E_AGAIN_CHECKOUT,		/* ... and its checkout is no longer what is under review */
	SLOT_E_REWORK_IMPLEMENT,	/* a human sends a held task back: the lost attempt again, or a fix with the human's text */
	SLOT_E_REWORK_CHECK,
	SLOT_E_REWORK_REVIEW,
	SLOT_E_REWORK_CHECKOUT,
	SLOT_E_REWORK_FIX,
	SLOT_E_REWORK_COMMIT,
	SLOT_E_CANCEL,
	SLOT_E_ENDED,			/* what was under way when the cancel came is over */
	SLOT_EVENTS
};

enum slot_action {
	SLOT_A_CLAIM,
	SLOT_A_LAY,
	SLOT_A_IMPLEMENT,
	SLOT_A_CHECK,			/* the next check, or the one that was lost */
	SLOT_A_MEASURE,
	SLOT_A_CHECKOUT,
	SLOT_A_REVIEW,
	SLOT_A_VERIFY,
	SLOT_A_JUDGE,			/* the verdict without git */
	SLOT_A_FIX,
	SLOT_A_PIN,
	SLOT_A_ASK,			/* an agent commits */
	SLOT_A_COMMIT,
	SLOT_A_MERGE,			/* when its turn comes */
	SLOT_A_HOLD,			/* open a hold, then let the run decide */
	SLOT_A_END,			/* end what is under way */
	SLOT_A_SETTLE			/* the slot is over: let the run decide */
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

/* The phase that users see, of a stage by itself. */
enum slot_phase slot_phase(enum slot_stage stage);
/* The same of a slot, which may be cooling: its attempt waits for an account, for the host, or for a time, and has not been started. What an implementer
 * has done is measured as a part of his work while no review has begun. */
enum slot_phase slot_row_phase(const struct slot_row *row);
bool slot_cools(const struct slot_row *row);

/* How the reason of a slot begins of which the attempt waits for what others under way will have cost. */
#define SLOT_BUDGET_REASON "budget: "

/* passed, failed, cancelled */
bool slot_stage_is_end(enum slot_stage stage);

#endif
