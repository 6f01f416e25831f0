/* SPDX-License-Identifier: MIT */
/* What an ended attempt came to: read, recorded, and handed to the stage of its slot. */
#ifndef SLOT_ATTEMPT_RESULT_H
#define SLOT_ATTEMPT_RESULT_H

#include <stdbool.h>

#include "core/review.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"

struct slot;
struct txn;

/* The end of an attempt, as its stage is told of it. One that was not served has begun again and is
 * told of to no stage. */
struct attempt_end {
	const struct attempt_row *row;
	const struct attempt_facts *facts;
	enum slot_stage to;		/* stage_after_attempt() */
	enum move_reason reason;	/* ... as well */
	bool lost;			/* it is not known what it said */
	bool failed;			/* to FAILED, and it is known why */
};

/* Read what the attempt of the slot has left behind, and take what follows from it. */
void attempt_collect(struct slot *slot);

/* For the stages: */
/* It is the work that the next review is about, unless it came to nothing. */
void attempt_take_answer(struct txn *txn, struct slot *slot, const struct attempt_end *end);
/* MOVE_RELEASED: the task, if the slot has one, is given back. */
void attempt_gives_back(struct txn *txn, struct slot *slot, const struct attempt_end *end);
void attempt_move(struct txn *txn, struct slot *slot, const struct attempt_end *end);

#endif
