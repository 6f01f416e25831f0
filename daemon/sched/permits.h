/* SPDX-License-Identifier: MIT */
/* The permits of the daemon: who has one, who is next, and why the rest waits. */
#ifndef SCHED_PERMITS_H
#define SCHED_PERMITS_H

struct engine;
struct run;
struct slot;
struct txn;

/* Who is next, with a permit from now on: a slot that waited for one, or the run's own, when the run is to start or to go on. queue_update()
 * when it has begun. NULL: nobody, or none is free. */
struct slot *permits_next(struct engine *engine);
/* Why those wait that changed since. */
void permits_tell(struct txn *txn, struct engine *engine);
/* A run enters the schedule: a new one, or one that was found at start. */
void queue_add(struct run *run);
/* The slot gives its slot of the daemon back, if it has one. */
void queue_give(struct slot *slot);
/* The slot wants one: permits_next() names it when it has it. */
void queue_want(struct slot *slot);
/* The run does nothing between its slots for now: what it keeps for itself goes to one of them that waits for it, or for something else; one that
 * is being cancelled keeps nothing. */
void queue_yield(struct txn *txn, struct run *run);
/* It was found at work: it has a permit. */
void queue_sit(struct slot *slot);
/* What the run wants has changed: its state, or that of its slots. */
void queue_update(struct run *run);

#endif
