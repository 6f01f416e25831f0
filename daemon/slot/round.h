/* SPDX-License-Identifier: MIT */
/* A round of review: its beginning, and what follows from its end. */
#ifndef SLOT_ROUND_H
#define SLOT_ROUND_H

#include "core/cause.h"
#include "core/review.h"

struct slot;
struct txn;

/* A new review begins, with its checks or after them. */
void round_begin(struct txn *txn, const struct slot *slot);
/* The round has begun, but there will be no review. */
void round_forgo(struct txn *txn, const struct slot *slot);
/* There was one: the next round is compared with this one. */
void round_judged(struct txn *txn, const struct slot *slot);
/* The round is over: apply the policies of the plan. why: of a bad end. */
void round_over(struct txn *txn, struct slot *slot, enum round_end end, struct cause why);
/* The slot's work is not reviewed. */
void review_skip(struct txn *txn, struct slot *slot, enum skip_kind kind);

#endif
