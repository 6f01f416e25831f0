/* SPDX-License-Identifier: MIT */
/* Mutual exclusion of git operations. */
#ifndef SLOT_TURN_H
#define SLOT_TURN_H

#include <stdbool.h>

#include "git/git_op.h"

struct slot;
struct txn;

/* Whether only one slot may run it at a time. */
bool turn_is_needed(enum git_op_kind kind);
/* Whether another slot runs an operation that excludes this one's. */
bool turn_is_taken(const struct slot *slot);
/* The slot's turn is over, if it had one: start the operations that waited for it. */
void turn_over(struct txn *txn, struct slot *slot);
/* What the slot does excludes others no longer: start those that may begin now. */
void turn_pass(struct txn *txn, const struct slot *slot);

#endif
