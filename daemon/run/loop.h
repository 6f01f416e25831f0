/* SPDX-License-Identifier: MIT */
/* From iteration to iteration of a run. */
#ifndef RUN_LOOP_H
#define RUN_LOOP_H

#include <stdbool.h>

#include "core/run.h"
#include "core/tasks.h"
#include "task/op.h"

struct run;
struct txn;

/* Between two iterations, or before the first: wait as long as the plan says, then ask the source. */
void run_load(struct run *run);
/* The source has been asked; list NULL: there was nothing to ask. */
void run_loaded(struct txn *txn, struct run *run, const struct task_list *list, bool has_bd);
void run_begin_iteration(struct txn *txn, struct run *run);
/* False: it was over already. */
bool run_finish_iteration(struct txn *txn, struct run *run);
/* Scope "run": everything is implemented, slot 0 reviews it. */
void run_begin_review(struct txn *txn, struct run *run);
/* Tasks that were never begun, with the reason. */
void run_finish_tasks(struct txn *txn, struct run *run);
/* The loop as run_settle() wants it; *slots is malloc'd, for the caller to free. */
struct loop run_loop(const struct run *run, const struct slot_row ***slots);

#endif
