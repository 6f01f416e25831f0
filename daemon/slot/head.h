/* SPDX-License-Identifier: MIT */
/* Commits made by agents in a shared work tree. */
#ifndef SLOT_HEAD_H
#define SLOT_HEAD_H

#include <stdbool.h>

struct slot;
struct txn;

/* HEAD at the beginning of the work; NULL: unknown, or the slot has its own work tree. */
const char *slot_head(const struct slot *slot);
/* The slot has ended, and HEAD has not been checked yet. */
bool head_is_open(const struct slot *slot);
/* The slot has its commit: report other commits on HEAD. */
void head_committed(struct txn *txn, struct slot *slot);
/* INSPECT_HEAD has its result. */
void head_inspected(struct txn *txn, struct slot *slot);

#endif
