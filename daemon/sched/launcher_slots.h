/* SPDX-License-Identifier: MIT */
/* How many attempts a launcher may have at a time, over all runs. */
#ifndef SCHED_LAUNCHER_SLOTS_H
#define SCHED_LAUNCHER_SLOTS_H

#include "core/plan.h"

struct slot;

/* The launcher of the agent has no slot for the attempt of this one: why, malloc'd. NULL: it has
 * one, or the agent needs none. The end of an attempt wakes those that wait. */
char *launcher_waits(const struct slot *slot, const struct agent_plan *agent);

#endif
