/* SPDX-License-Identifier: MIT */
/* The job of an attempt whose agent a launcher places. */
#ifndef JOB_PLACED_H
#define JOB_PLACED_H

#include "core/plan.h"
#include "core/row.h"
#include "proc/launch.h"

/* Put the launcher of the agent before the argv of the job, if the attempt has one, and around its
 * program the script that confirms its end. dir: the attempt's directory; shim: path of rl-shim. */
void placed_wrap(struct launch *launch, const struct agent_plan *agent, const struct attempt_row *attempt,
    const char *dir, const char *shim);

#endif
