/* SPDX-License-Identifier: MIT */
/* What the slot's task has come to. */
#ifndef SLOT_TASK_END_H
#define SLOT_TASK_END_H

#include "slot/machine.h"

struct slot;
struct txn;

/* The task of the slot follows it into a stage where the work rests: an end, HELD or
 * IMPLEMENTED. */
void task_end(struct txn *txn, const struct slot *slot, const struct move_why *why);

#endif
