/* SPDX-License-Identifier: MIT */
/* The machine of a slot: how it moves from stage to stage. */
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
	struct cause cause;		/* of an end or a hold, and of what is accepted */
	enum hold_kind hold;		/* to HELD: its kind */
};

struct attempt_end;

/* What a stage has come to. */
struct stage_result {
	const struct attempt_end *attempt;	/* of its attempt: slot/attempt_result.h; NULL:
						 * it is about none */
	int64_t step;				/* of its operation, whose answer is in
						 * slot->op: the last step */
	struct cause failure;			/* ... and why it came to nothing, for good;
						 * NO_CAUSE: it did not */
};

/* A stage. The machine does not know its stages: it is given the table of them
 * (slot/stages.h) at start. */
struct stage {
	enum git_op_kind git;	/* the operation that it is about, if it is about one of git */
	/* The slot comes into it. */
	void (*enter)(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why);
	/* What was under way has come to this: take what follows from it, and move on. NULL:
	 * nothing ever is. */
	void (*result)(struct txn *txn, struct slot *slot, const struct stage_result *result);
	/* Nothing is under way: take it up. After the decision that entered it, after a wait,
	 * after the loss of its process, and after a start of the daemon. NULL: there is
	 * nothing to be taken up. */
	void (*recover)(struct slot *slot);
};

/* The only writer of a slot's stage: it enters the next one. A bug when the slot is not in from, or
 * to may not follow. why: NULL for what is done and has no cause. */
void slot_move(struct txn *txn, struct slot *slot, enum slot_stage from, enum slot_stage to,
    const struct move_why *why);
/* Hands over to the stage of the slot; a stage that works fails with a failed operation. */
void slot_result(struct txn *txn, struct slot *slot, const struct stage_result *result);
void slot_recover(struct slot *slot);
enum slot_stage slot_stage(const struct slot *slot);
void slot_fail(struct txn *txn, struct slot *slot, struct cause cause);
void slot_cancel(struct txn *txn, struct slot *slot);
/* The activity is over of a slot in ENDING, or of the run's own slot when the run is cancelled. */
void slot_ended(struct txn *txn, struct slot *slot);
/* A slot of the daemon is there: begin, or go on with the attempt that waited. */
void slot_on_permit(struct txn *txn, struct slot *slot);
/* It does nothing for now: its slot of the daemon is free, or the run's. */
void slot_release_permit(struct txn *txn, struct slot *slot);

#endif
