/* SPDX-License-Identifier: MIT */
/* The state machine of a slot: moves from stage to stage. */
#ifndef SLOT_MACHINE_H
#define SLOT_MACHINE_H

#include <stdint.h>

#include "core/cause.h"
#include "core/slot.h"
#include "core/state.h"
#include "git/git_op.h"

struct slot;
struct txn;

struct move_why {
	enum move_reason reason;
	struct cause cause;		/* of an end, a hold, or an acceptance */
	enum hold_kind hold;		/* for a move to HELD: its kind */
};

struct attempt_end;

/* The result of a stage's activity. */
struct stage_result {
	/* of its attempt: slot/attempt_result.h; NULL: none */
	const struct attempt_end *attempt;
	int64_t step;				/* of its operation, whose answer is in
						 * slot->op: the last step */
	/* ... and why it failed permanently; NO_CAUSE: it did not */
	struct cause failure;
};

/* A stage. The machine does not know its stages: it gets their table (slot/stages.h) at start. */
struct stage {
	enum git_op_kind git;	/* its git operation, if it has one */
	/* The slot enters the stage. */
	void (*enter)(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why);
	/* The stage's activity is over: act on the result, and move on. NULL: it has no
	 * activity. */
	void (*result)(struct txn *txn, struct slot *slot, const struct stage_result *result);
	/* Nothing is running: take up the stage. Called after the decision that entered it, after a
	 * wait, after the loss of its process, and after a start of the daemon. NULL: nothing to
	 * take up. */
	void (*recover)(struct slot *slot);
};

/* The only function that moves a slot to another stage. It is a bug if the slot is not in from, or
 * to may not follow. why: NULL for a completed stage without a cause. */
void slot_move(struct txn *txn, struct slot *slot, enum slot_stage from, enum slot_stage to,
    const struct move_why *why);
/* Pass the result to the slot's stage; a working stage fails with its operation. */
void slot_result(struct txn *txn, struct slot *slot, const struct stage_result *result);
void slot_recover(struct slot *slot);
enum slot_stage slot_stage(const struct slot *slot);
void slot_fail(struct txn *txn, struct slot *slot, struct cause cause);
void slot_cancel(struct txn *txn, struct slot *slot);
/* The activity of a slot in ENDING is over, or that of the run's own slot when the run is
 * cancelled. */
void slot_ended(struct txn *txn, struct slot *slot);
/* The slot has a permit: start, or continue the attempt that waited. */
void slot_on_permit(struct txn *txn, struct slot *slot);
/* The slot is idle: release its permit, or give it to the run. */
void slot_release_permit(struct txn *txn, struct slot *slot);

#endif
