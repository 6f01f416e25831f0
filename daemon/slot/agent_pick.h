/* SPDX-License-Identifier: MIT */
/* Slots whose agent picks its task (assign = "agent"). */
#ifndef SLOT_AGENT_PICK_H
#define SLOT_AGENT_PICK_H

struct run;
struct slot;
struct txn;

#define REASON_STAGED "waiting to spawn until earlier slots have picked a task"

/* Start the first slots; each other one when those before it have picked or ended. */
void pick_stage(struct txn *txn, struct run *run);
/* Watch the output of the slot's attempt until it has picked or ended. */
void pick_watch(struct slot *slot);
/* The attempt has ended: read its output a last time, then call attempt_collect(). */
void pick_last(struct slot *slot);

#endif
