/* SPDX-License-Identifier: MIT */
/* The run machine applied. */
#ifndef RUN_LIFECYCLE_H
#define RUN_LIFECYCLE_H

#include "core/cause.h"
#include "core/run.h"

struct run;
struct txn;

/* It has ended, and everybody was told: free it, and remove what it had on disk for its work. */
void run_cleanup(struct run *run);
/* cause: of an end; what a run is held or paused for becomes its reason. */
void run_event(struct txn *txn, struct run *run, enum run_event event, struct cause cause);
/* Looks at the tasks and slots of the run, and takes what follows from them: the next iteration, a review, an end. */
void run_reconcile(struct txn *txn, struct run *run);
/* What the run does between its slots has failed: nothing more begins. */
void run_failed(struct txn *txn, struct run *run, struct cause cause);
/* Somebody said so. */
void run_cancel(struct txn *txn, struct run *run, struct cause cause);

#endif
