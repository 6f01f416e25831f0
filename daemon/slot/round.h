/* SPDX-License-Identifier: MIT */
/* A round of review: its beginning, and what follows from its end. */
#ifndef SLOT_ROUND_H
#define SLOT_ROUND_H

#include "core/cause.h"
#include "core/review.h"

struct slot;
struct move_why;
struct txn;

/* A new review begins, with its checks or after them. */
void round_begin(struct txn *txn, const struct slot *slot);
/* The round has begun, but there will be no review. */
void round_forgo(struct txn *txn, const struct slot *slot);
/* There was one: the next round is compared with this one. */
void round_judged(struct txn *txn, const struct slot *slot);
/* Why work that passed is held: it touches protected paths, or what the prompt left out; NULL: that
 * is not why. word: what it came to otherwise, "passed". malloc'd. */
char *round_held_cause(const char *word, const char *touched, const char *cut);
/* The round is over: apply the policies of the plan. why: of a bad end. */
void round_over(struct txn *txn, struct slot *slot, enum round_end end, struct cause why);
/* The review of the whole run has passed what it saw, but a task failed, and profile "file" commits
 * all or nothing: why nothing is committed, malloc'd. NULL: it may be. */
char *round_partial(const struct slot *slot);
/* Move to that stage after a pass, or fail: see round_partial(). A branch of results may have the
 * commits. */
void round_commit(struct txn *txn, struct slot *slot, enum slot_stage to, const struct move_why *why);

/* The slot's work is not reviewed. */
void review_skip(struct txn *txn, struct slot *slot, enum skip_kind kind);

/* The check has failed: send it to a fixer, while there is a fix round left. */
void round_check_failed(struct txn *txn, struct slot *slot, const struct attempt_row *a);

#endif
