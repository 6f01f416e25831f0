/* SPDX-License-Identifier: MIT */
/* A merge that gives a new tree: the branch waits until that tree is judged. */
#ifndef SLOT_MERGE_STATE_H
#define SLOT_MERGE_STATE_H

#include <stdint.h>

struct slot;
struct txn;

/* MERGING: git has held the branch back. Have the new tree judged. */
void merge_held_back(struct txn *txn, struct slot *slot);
/* The branch of the run has moved. patch: step with the diff of everything so far. */
void merge_done(struct txn *txn, struct slot *slot, int64_t patch);
/* Not green: the work is fixed or held. Nothing of an acceptance is left. */
void merge_send_back(struct txn *txn, struct slot *slot);

#endif
