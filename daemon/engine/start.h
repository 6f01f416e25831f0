/* SPDX-License-Identifier: MIT */
/* Starts what is next: sched says who has a permit, run and slot go on with it. */
#ifndef ENGINE_START_H
#define ENGINE_START_H

struct engine;
struct txn;

/* Start those who are next, as part of a decision, and tell why the rest waits: its answer tells what came of it. */
void start_next(struct txn *txn, struct engine *engine);
/* The same as a decision of its own. */
void engine_schedule(struct engine *engine);

#endif
