/* SPDX-License-Identifier: MIT */
/* The run's directory, and the base that its work is compared with. */
#ifndef RUN_PREPARATION_H
#define RUN_PREPARATION_H

struct run;
struct txn;

/* The run's directory, and the base that its work is compared with. */
void run_prepare(struct run *run);
/* The operation of git between its slots is over, and went well: the base, or the tree that an
 * iteration begins with. */
void run_git_done(struct txn *txn, struct run *run);

#endif
