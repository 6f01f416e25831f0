/* SPDX-License-Identifier: MIT */
/* Paths in a shared tree that other runs write. */
#ifndef SLOT_SHARED_PATHS_H
#define SLOT_SHARED_PATHS_H

#include <stddef.h>

struct run;
struct slot;
struct txn;

/* The run begins to work: record the paths of other runs in the same tree. */
void run_meet(struct txn *txn, struct run *run);
size_t slot_others_met(const struct slot *slot);	/* number of these paths */
/* paths in its work tree, relative to it, written by other runs; malloc'd, NULL: none */
char **slot_others(const struct slot *slot);

#endif
