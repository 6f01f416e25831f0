/* SPDX-License-Identifier: MIT */
/* The slot machine applied. */
#ifndef SLOT_MACHINE_H
#define SLOT_MACHINE_H

#include "core/cause.h"
#include "core/slot.h"
#include "core/state.h"

struct slot;
struct txn;

struct move_why {
	enum move_reason reason;
	struct cause cause;		/* of an end or a hold, and of what is accepted */
	enum hold_kind hold;		/* to HELD: its kind */
};

/* A stage, as the machine is given it at start. */
struct stage {
	void (*enter)(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why);
	/* Nothing is under way in it: take it up. After the decision that entered it, after a wait, after the
	 * loss of its process, and after a start of the daemon. */
	void (*recover)(struct slot *slot);
};

/* The only writer of a slot's stage: it enters the next one. A bug when the slot is not in from, or to may not follow. why: NULL for what is
 * done and has no cause. */
void slot_move(struct txn *txn, struct slot *slot, enum slot_stage from, enum slot_stage to, const struct move_why *why);
/* Takes up the stage of the slot. */
void slot_recover(struct slot *slot);
enum slot_stage slot_stage(const struct slot *slot);
void slot_fail(struct txn *txn, struct slot *slot, struct cause cause);
void slot_cancel(struct txn *txn, struct slot *slot);
/* The slot's activity is over in ENDING (or the run's own slot is told to stop): take the last edge. */
void slot_ended(struct txn *txn, struct slot *slot);
/* A slot of the daemon is there: begin, or go on with the attempt that waited. */
void slot_on_permit(struct txn *txn, struct slot *slot);
/* It does nothing for now: its slot of the daemon is free, or the run's. */
void slot_release_permit(struct txn *txn, struct slot *slot);

#endif
