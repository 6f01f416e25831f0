/* SPDX-License-Identifier: MIT */
/* The job of an attempt whose agent a launcher places. */
#ifndef JOB_PLACED_H
#define JOB_PLACED_H

#include "core/plan.h"
#include "job/build_int.h"
#include "proc/launch.h"

/* Put the launcher of the agent before the argv of the job, if the attempt has one, and around its
 * program the script that confirms its end; where the machine has directories of its own, the one
 * that copies. After all other files of the launch. */
void placed_wrap(struct launch *launch, const struct agent_plan *agent, const struct build_job *w,
    const struct places *p, const struct sources *s);

#endif
