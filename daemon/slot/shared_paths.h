/* SPDX-License-Identifier: MIT */
/* Paths in a shared tree that other runs write. */
#ifndef SLOT_SHARED_PATHS_H
#define SLOT_SHARED_PATHS_H

#include <stddef.h>

struct run;
struct slot;
struct txn;

/* It begins to work: who else works, and where they keep their tasks. */
void run_meet(struct txn *txn, struct run *run);
size_t slot_others_met(const struct slot *slot);	/* how many these are */
/* paths in its work tree, relative to it, that other runs write; malloc'd, NULL: none */
char **slot_others(const struct slot *slot);

#endif
