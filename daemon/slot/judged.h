/* SPDX-License-Identifier: MIT */
/* Whether the work tree of a person still is what was judged. */
#ifndef SLOT_JUDGED_H
#define SLOT_JUDGED_H

#include "git/git_op.h"

struct slot;
struct txn;

/* The tree that the operation compares the workspace with; NULL: none. */
const char *judged_tree(const struct slot *slot, enum git_op_kind kind);
/* Warn of what the slot's operation has found, once in the same words. */
void judged_warn(struct txn *txn, struct slot *slot);

#endif
