/* SPDX-License-Identifier: MIT */
/* REVIEWING and VERIFYING: the verdict of a review, and what a round came to. */
#ifndef SLOT_REVIEWING_H
#define SLOT_REVIEWING_H

#include "core/cause.h"
#include "core/review.h"

struct slot;
struct txn;

void review_judge(struct slot *slot, const char *changed, const char *appeared);
/* A round has come to an end that is neither pass nor findings by a reviewer: what the policy says. */
void review_over(struct txn *txn, struct slot *slot, enum round_end end, struct cause why);
void review_skip(struct txn *txn, struct slot *slot, enum skip_kind kind);

#endif
