/* SPDX-License-Identifier: MIT */
/* The run's directory, and the base that its work is compared with. */
#ifndef RUN_PREPARATION_H
#define RUN_PREPARATION_H

struct run;
struct txn;

/* The run's directory, and the base that its work is compared with. */
void run_prepare(struct run *run);
/* A git operation between the slots has succeeded: the base, or the tree at the beginning of an
 * iteration. */
void run_git_done(struct txn *txn, struct run *run);

#endif
