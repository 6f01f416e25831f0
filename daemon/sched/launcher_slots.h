/* SPDX-License-Identifier: MIT */
/* How many attempts a launcher may have at a time, over all runs, and on which of its machines. */
#ifndef SCHED_LAUNCHER_SLOTS_H
#define SCHED_LAUNCHER_SLOTS_H

#include "core/plan.h"

struct slot;

/* The launcher of the agent, or each of its machines, has no slot for the attempt of this one: why,
 * malloc'd. NULL: there is one, or the agent needs none. The end of an attempt wakes those that
 * wait. */
char *launcher_waits(const struct slot *slot, const struct agent_plan *agent);

/* The machine for it, malloc'd: the one that it has, if that has a slot, or the one of whose slots
 * the fewest are in use. NULL: none has one, or the launcher has no list. */
char *launcher_node(const struct slot *slot, const struct agent_plan *agent);

#endif
