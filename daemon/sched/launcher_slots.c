/* SPDX-License-Identifier: MIT */
#include "sched/launcher_slots.h"

#include <stdint.h>
#include <string.h>
#include <sys/queue.h>

#include "core/row.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"

/* Whether the process of its attempt is behind that launcher. */
static bool uses(const struct slot *slot, const char *launcher)
{
	const struct attempt_row *a;

	if (slot->activity.kind != ACTIVITY_ATTEMPT)
		return false;
	a = run_attempt(slot->run, slot->activity.id);
	return a->launcher != NULL && strcmp(a->launcher, launcher) == 0;
}

char *launcher_waits(const struct slot *slot, const struct agent_plan *agent)
{
	const struct run *run;
	int64_t used = 0;

	if (agent->launcher == NULL || agent->launcher_slots == 0)
		return NULL;
	LIST_FOREACH(run, &slot->run->engine->begun, begun)
		for (size_t i = 0; i < run->nslots; i++)
			used += run->slots[i] != slot && uses(run->slots[i], agent->launcher);
	if (used < agent->launcher_slots)
		return NULL;
	return agent->launcher_slots == 1 ? xasprintf("launcher %s: its only slot is in use", agent->launcher) :
	    xasprintf("launcher %s: all %lld slots are in use", agent->launcher, (long long)agent->launcher_slots);
}
