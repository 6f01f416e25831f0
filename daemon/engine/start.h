/* SPDX-License-Identifier: MIT */
/* Starting: sched names the next slot with a permit, and run or slot continues. */
#ifndef ENGINE_START_H
#define ENGINE_START_H

struct engine;
struct txn;

/* Start all slots that get a permit, as part of a decision, and record why the others wait. The
 * answer of the decision shows the result. */
void start_next(struct txn *txn, struct engine *engine);
/* The same in a separate decision. */
void engine_schedule(struct engine *engine);

#endif
