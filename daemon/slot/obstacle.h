/* SPDX-License-Identifier: MIT */
/* What git has against a result: conflict markers, a conflict, a hook that refuses. */
#ifndef SLOT_OBSTACLE_H
#define SLOT_OBSTACLE_H

#include <stdbool.h>

#include "core/review.h"

struct slot;
struct txn;

/* The answer of the slot's operation has one of those that are found before a commit. */
bool obstacle_is_there(const struct slot *slot);
/* If so, it goes to a fixer, while there is a fix round left. False: there is none. */
bool obstacle_send_back(struct txn *txn, struct slot *slot);
/* The same with an obstacle that is known. end: of the round when no fix round is
 * left. Takes why. */
void obstacle_set(struct txn *txn, struct slot *slot, enum round_end end, char *why);

#endif
