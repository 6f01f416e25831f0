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
/* paths in its work tree, relative to it, written by other runs; malloc'd, NULL: none */
char **slot_shared_paths(const struct slot *slot);
/* The same, and where the run has its own tasks, which have been told about its end. */
char **slot_written_paths(const struct slot *slot);
/* the number of paths that slot_shared_paths() returns */
size_t slot_count_shared_paths(const struct slot *slot);

#endif
