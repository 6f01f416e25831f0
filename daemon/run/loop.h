/* SPDX-License-Identifier: MIT */
/* The iterations of a run. */
#ifndef RUN_LOOP_H
#define RUN_LOOP_H

#include <stdbool.h>

#include "core/run.h"

struct run;
struct txn;

void run_begin_iteration(struct txn *txn, struct run *run);
/* End the iteration. False: it was over already. */
bool run_finish_iteration(struct txn *txn, struct run *run);
/* Scope "run": all tasks are implemented, slot 0 reviews them. */
void run_begin_review(struct txn *txn, struct run *run);
/* End the tasks that were never begun, with the reason. */
void run_finish_tasks(struct txn *txn, struct run *run);
/* The facts for run_settle(). *slots is malloc'd; the caller frees it. */
struct loop run_loop(const struct run *run, const struct slot_row ***slots);

#endif
