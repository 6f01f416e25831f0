/* SPDX-License-Identifier: MIT */
/* Between two iterations of a run: its pause, then its tasks from the source. */
#ifndef RUN_TASK_LOAD_H
#define RUN_TASK_LOAD_H

#include <stdbool.h>

struct run;
struct task_list;
struct txn;

/* Between two iterations, or before the first: wait as long as the plan says, then
 * ask the source. */
void run_load(struct run *run);
/* The source has answered; list NULL: there was nothing to ask. */
void run_loaded(struct txn *txn, struct run *run, const struct task_list *list, bool has_bd);

#endif
