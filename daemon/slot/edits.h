/* SPDX-License-Identifier: MIT */
/* What people change in a shared work tree while no agent of the run works there is theirs, and no
 * part of the work (docs/design/evidence.md). VERIFY sees what they do during a review. What they
 * do while an agent waits for its start, or while checks run that fail, is found before the agent
 * starts: its attempt exists, is not started, and has an operation, FIND_EDITS; but not where the
 * start follows VERIFY without a wait. What they do during a hold is part of the work that they
 * send back. In a work tree the same is asked once, after its set-up. */
#ifndef SLOT_EDITS_H
#define SLOT_EDITS_H

#include <stdbool.h>

struct slot;
struct txn;

/* The slot's attempt writes, and what is in the work tree that the slot's product does not have is
 * no agent's of the run. */
bool edits_can_be_told(const struct slot *slot);

void edits_find(struct slot *slot);
/* What came of it; then the attempt starts. */
void edits_found(struct txn *txn, struct slot *slot);
void edits_unknown(struct txn *txn, struct slot *slot, const char *why);

#endif
