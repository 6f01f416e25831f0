/* SPDX-License-Identifier: MIT */
/* A round of review: its begin, and what follows from its end. */
#ifndef SLOT_ROUND_H
#define SLOT_ROUND_H

#include "core/cause.h"
#include "core/review.h"

struct slot;
struct txn;

/* A new review begins: its checks are over. */
void round_begin(struct txn *txn, const struct slot *slot);
/* It has begun, and no reviewer is asked after all. */
void round_forgo(struct txn *txn, const struct slot *slot);
/* It has come to an end: what the policies of the plan say. why: of a bad end. */
void round_over(struct txn *txn, struct slot *slot, enum round_end end, struct cause why);
/* The work of the slot is not reviewed. */
void review_skip(struct txn *txn, struct slot *slot, enum skip_kind kind);

#endif
