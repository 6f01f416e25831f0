/* SPDX-License-Identifier: MIT */
/* Commits that agents make by themselves in a shared work tree. */
#ifndef SLOT_HEAD_H
#define SLOT_HEAD_H

#include <stdbool.h>

struct slot;
struct txn;

/* HEAD where the work began; NULL: it is not known, or the slot has a work tree of its own. */
const char *slot_head(const struct slot *slot);
/* The slot has ended, and nobody has looked yet what HEAD is. */
bool head_is_open(const struct slot *slot);
/* The slot has its commit: what else came onto HEAD is told. */
void head_committed(struct txn *txn, struct slot *slot);
/* LOOK has its answer. */
void head_looked(struct txn *txn, struct slot *slot);

#endif
