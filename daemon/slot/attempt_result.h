/* SPDX-License-Identifier: MIT */
/* Outcome of an ended attempt: read, recorded, and passed to the stage of its slot. */
#ifndef SLOT_ATTEMPT_RESULT_H
#define SLOT_ATTEMPT_RESULT_H

#include <stdbool.h>

#include "core/review.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"

struct slot;
struct txn;

/* The end of an attempt, as passed to its stage. One that was refused is repeated and not passed
 * on. */
struct attempt_end {
	const struct attempt_row *row;
	const struct attempt_facts *facts;
	enum slot_stage to;		/* from stage_after_attempt() */
	enum move_reason reason;	/* ... likewise */
	bool lost;			/* its output is unknown */
	bool failed;			/* moves to FAILED, for a known reason */
};

/* Read the output of the slot's attempt, and act on it. */
void attempt_collect(struct slot *slot);

/* For the stages: */
/* The attempt is the work for the next review, unless it failed. */
void attempt_take_answer(struct txn *txn, struct slot *slot, const struct attempt_end *end);
/* MOVE_RELEASED: give the slot's task back, if any. */
void attempt_gives_back(struct txn *txn, struct slot *slot, const struct attempt_end *end);
void attempt_move(struct txn *txn, struct slot *slot, const struct attempt_end *end);

#endif
