/* SPDX-License-Identifier: MIT */
/* What is on disk against the reference model. */
#ifndef SIM_COMPARE_H
#define SIM_COMPARE_H

#include "world.h"

/* Nothing moves any more: every run is as its story says. What diverges is told by world_fail(). */
void compare_runs(struct world *w);

#endif
