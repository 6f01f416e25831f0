/* SPDX-License-Identifier: MIT */
/* Launchers of the agents of a plan. */
#ifndef CONFIG_LAUNCHER_FILL_H
#define CONFIG_LAUNCHER_FILL_H

#include "config/layers.h"
#include "core/plan.h"

/* Set the launcher of each agent: that of the submit, its own, or that of [run]. Refuses one for a
 * reviewer that must be confined. 0, or -1 with error. */
int launcher_fill_plan(const struct layers *layers, struct plan *plan, struct config_error *error);

#endif
