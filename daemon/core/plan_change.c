/* SPDX-License-Identifier: MIT */
#include "core/plan_change.h"

#include <stddef.h>

#include "core/clocks.h"

#define TAKE(member)										\
	static void take_##member(struct plan *plan, const struct plan *from)			\
	{											\
		plan->member = from->member;							\
	}

TAKE(parallel)
TAKE(max_cost_usd)
TAKE(max_tokens)
TAKE(max_wall_ms)
TAKE(max_fixes)
TAKE(disk_floor_bytes)

/* A role that has its own limit keeps it. */
static void take_clock(struct plan *plan, const struct plan *from, enum clock clock)
{
	for (int role = 0; role < ROLES; role++)
		if (!plan->clocks[role].own[clock])
			plan->clocks[role].ms[clock] = from->clocks[role].ms[clock];
}

static void take_timeout(struct plan *plan, const struct plan *from)
{
	take_clock(plan, from, CLOCK_WALL);
}

static void take_idle_timeout(struct plan *plan, const struct plan *from)
{
	take_clock(plan, from, CLOCK_IDLE);
}

const struct plan_change plan_changes[] = {
	{ "parallel", "run.parallel", take_parallel },
	{ "max_cost", "run.max_cost", take_max_cost_usd },
	{ "max_tokens", "run.max_tokens", take_max_tokens },
	{ "max_wall", "run.max_wall", take_max_wall_ms },
	{ "max_fixes", "review.max_fixes", take_max_fixes },
	{ "timeout", "limits.timeout", take_timeout },
	{ "idle_timeout", "limits.idle_timeout", take_idle_timeout },
	{ "disk_floor", "limits.disk_floor", take_disk_floor_bytes },
	{ NULL, NULL, NULL }
};

void plan_change(struct plan *plan, const struct plan *from, unsigned mask)
{
	for (size_t i = 0; plan_changes[i].name != NULL; i++)
		if ((mask & 1u << i) != 0)
			plan_changes[i].take(plan, from);
}
