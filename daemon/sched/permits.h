/* SPDX-License-Identifier: MIT */
/* The permits of the daemon: which slots have one, which is next, and why the others wait. */
#ifndef SCHED_PERMITS_H
#define SCHED_PERMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/kinds.h"

struct engine;
struct run;
struct slot;
struct txn;

/* Give the next slot a permit: a slot that waited for one, or a run's own when the run starts or
 * continues. Call queue_update() when it has begun. NULL: no slot waits, or no permit is free. */
struct slot *permits_next(struct engine *engine);
/* Record and emit the reasons of runs that begin to wait, and of those that are next. */
void permits_tell(struct txn *txn, struct engine *engine);
/* Why a queued run waits at this moment; its row has the reason that was told last. *text:
 * malloc'd, NULL: it only waits for its turn. False: the run is not queued, and its row says it. */
bool permits_reason(struct engine *engine, int64_t run, enum wait_kind *kind, char **text);
/* Add a run to the schedule: a new one, or one found at start. */
void queue_add(struct run *run);
/* The slot gives its permit back, if it has one. */
void queue_give(struct slot *slot);
/* The slot wants a permit: permits_next() returns it when it has one. */
void queue_want(struct slot *slot);
/* The run does nothing between its slots: give its own permit back when one of its slots has one,
 * or waits for a permit, an account or the baseline, or when the run is being cancelled. */
void queue_yield(struct txn *txn, struct run *run);
/* The slot was found at work after a start: it has a permit. */
void queue_sit(struct slot *slot);
/* The state of the run or of its slots has changed, and with it what the run wants. */
void queue_update(struct run *run);
/* It may have been held or paused, or no longer is: let the runs that wait for it be told. */
void queue_note(struct txn *txn, struct run *run);

#endif
