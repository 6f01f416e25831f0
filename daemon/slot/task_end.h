/* SPDX-License-Identifier: MIT */
/* The end of a slot's task. */
#ifndef SLOT_TASK_END_H
#define SLOT_TASK_END_H

#include "slot/machine.h"

struct slot;
struct txn;

/* The slot's task follows it into a stage without activity: an end, HELD or IMPLEMENTED. */
void task_end(struct txn *txn, const struct slot *slot, const struct move_why *why);

#endif
