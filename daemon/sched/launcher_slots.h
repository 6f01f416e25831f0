/* SPDX-License-Identifier: MIT */
/* How many attempts a launcher may have at a time, over all runs, and on which of its machines. */
#ifndef SCHED_LAUNCHER_SLOTS_H
#define SCHED_LAUNCHER_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"

struct engine;
struct slot;
struct txn;

/* The launcher of the agent, or each of its machines, has no slot for the attempt of this one: why,
 * malloc'd. NULL: there is one, or the agent needs none. The end of an attempt wakes those that
 * wait; *until is set if a machine that is left out will be tried before. */
char *launcher_waits(const struct slot *slot, const struct agent_plan *agent, int64_t *until);

/* The machine for it, malloc'd: the one that it has, if that has a slot, or the one of whose slots
 * the fewest are in use. NULL: none has one, or the launcher has no list. */
char *launcher_node(const struct slot *slot, const struct agent_plan *agent);

/* Whether the launcher has started nothing of the slot's attempt, which has ended, on the machine
 * that it was given. */
bool launcher_failed(const struct slot *slot, const struct attempt_row *a);

/* The slot's attempt has ended, and its row says how: those that wait for its launcher may have
 * its place. A machine that has not answered is left out for a while, longer each time until it
 * does; this is not on disk. */
void launcher_ended(struct txn *txn, const struct slot *slot, const struct attempt_row *a);

/* Each machine that is left out at present: until when, and why. */
void engine_left_out(struct engine *engine,
    void (*each)(void *arg, const char *launcher, const char *node, int64_t until, const char *why), void *arg);

/* Forget the machines that are left out. */
void launcher_slots_free(struct engine *engine);

#endif
