/* SPDX-License-Identifier: MIT */
/* The run machine applied to a run. */
#ifndef RUN_LIFECYCLE_H
#define RUN_LIFECYCLE_H

#include "core/cause.h"
#include "core/run.h"

struct run;
struct txn;

/* The run has ended, and its events are out: free it, and remove its working files. */
void run_cleanup(struct run *run);
/* cause: for an end; for held and paused it becomes the run's reason. */
void run_event(struct txn *txn, struct run *run, enum run_event event, struct cause cause);
/* Decide by the tasks and slots of the run what follows: the next iteration, a review, an end. */
void run_reconcile(struct txn *txn, struct run *run);
/* The work of the run between its slots has failed: nothing more begins. */
void run_failed(struct txn *txn, struct run *run, struct cause cause);
/* Cancel the run. */
void run_cancel(struct txn *txn, struct run *run, struct cause cause);

#endif
