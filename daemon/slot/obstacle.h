/* SPDX-License-Identifier: MIT */
/* Objections of git to a result: conflict markers, a conflict, a hook that rejects, a name that no
 * tree can have. */
#ifndef SLOT_OBSTACLE_H
#define SLOT_OBSTACLE_H

#include <stdbool.h>

#include "core/review.h"

struct slot;
struct txn;

/* Whether the answer of the slot's operation contains one that is found before a commit. */
bool obstacle_is_there(const struct slot *slot);
/* If so, send the work to a fixer, while there is a fix round left. Returns false if there is
 * none. */
bool obstacle_send_back(struct txn *txn, struct slot *slot);
/* Hold the slot if a ref is no longer as rld set it: no agent can tell which is right. Returns
 * whether there is such a ref. */
bool obstacle_ref_moved(struct txn *txn, struct slot *slot);
/* Like obstacle_send_back(), for a known obstacle. end: of the round, if no fix round is left.
 * Takes ownership of why. */
void obstacle_set(struct txn *txn, struct slot *slot, enum round_end end, char *why);

#endif
