/* SPDX-License-Identifier: MIT */
/* The iterations of a run. */
#ifndef RUN_LOOP_H
#define RUN_LOOP_H

#include <stdbool.h>

#include "core/run.h"

struct run;
struct txn;

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
