/* SPDX-License-Identifier: MIT */
/* Slots whose agent picks its task (assign = "agent"). */
#ifndef SLOT_AGENT_PICK_H
#define SLOT_AGENT_PICK_H

struct run;
struct slot;
struct txn;

#define REASON_STAGED "waiting to spawn until those before it have picked a task"

/* The first slots may begin; each further one when those before it have picked or ended. */
void pick_stage(struct txn *txn, struct run *run);
/* Look at the output of the slot's attempt, until it has picked or ended. */
void pick_watch(struct slot *slot);
/* It has ended: a last look, then attempt_collect(). */
void pick_last(struct slot *slot);

#endif
