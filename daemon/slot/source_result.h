/* SPDX-License-Identifier: MIT */
/* What the answer of a task source means for the slot. */
#ifndef SLOT_SOURCE_RESULT_H
#define SLOT_SOURCE_RESULT_H

struct slot;
struct txn;

/* The operation of the slot's task is over, and went well. */
void source_done(struct txn *txn, struct slot *slot);

#endif
