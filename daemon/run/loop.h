/* SPDX-License-Identifier: MIT */
/* The iterations of a run. */
#ifndef RUN_LOOP_H
#define RUN_LOOP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/run.h"

struct run;
struct txn;

/* Give each free slot its next task, in a new iteration if the last one has ended. */
void run_begin_tasks(struct txn *txn, struct run *run);
/* Whether what begins now belongs to the next iteration. */
bool run_iteration_is_over(const struct run *run);
/* Number of free slots. */
size_t run_room(const struct run *run);
/* Number of slots whose task has ended, is held, or waits for the review of the run. */
size_t run_settled(const struct run *run);
/* End the iteration. False: it was over already. */
bool run_finish_iteration(struct txn *txn, struct run *run);
/* Scope "run": all tasks are implemented, slot 0 reviews them. */
void run_begin_review(struct txn *txn, struct run *run);
/* End the tasks that were never begun, with the reason. */
void run_finish_tasks(struct txn *txn, struct run *run);
/* The facts for run_settle(). *slots is malloc'd; the caller frees it. */
struct loop run_loop(const struct run *run, const struct slot_row ***slots);

#endif
