/* SPDX-License-Identifier: MIT */
/* The turns of git operations that exclude each other. */
#ifndef SLOT_TURN_H
#define SLOT_TURN_H

#include <stdbool.h>

#include "git/git_op.h"

struct slot;
struct txn;

/* Only one slot may do it at a time. */
bool turn_is_needed(enum git_op_kind kind);
/* Another slot does what the operation of this one excludes. */
bool turn_is_taken(const struct slot *slot);
/* The turn of the slot is over, if it had one: the operations that waited for it begin. */
void turn_over(struct txn *txn, struct slot *slot);

#endif
