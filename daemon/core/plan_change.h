/* SPDX-License-Identifier: MIT */
/* The settings that an unfinished run can be changed. Pure. */
#ifndef CORE_PLAN_CHANGE_H
#define CORE_PLAN_CHANGE_H

#include "core/plan.h"

struct plan_change {
	const char *name;		/* the parameter of run.change */
	const char *path;		/* the setting */
	/* from has it, resolved by itself. Attempts under way keep what they began with. */
	void (*take)(struct plan *plan, const struct plan *from);
};

/* In the order of their bits in a mask; ends with name NULL. */
extern const struct plan_change plan_changes[];

/* Take what the mask names. */
void plan_change(struct plan *plan, const struct plan *from, unsigned mask);

#endif
