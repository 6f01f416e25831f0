/* SPDX-License-Identifier: MIT */
/* The near side of an agent that works under an rl-shim of its own (shim/far_shim.h): a connection
 * that breaks is made again, and ends nothing. */
#ifndef SHIM_FOLLOW_H
#define SHIM_FOLLOW_H

#include "record/shim_job.h"

/* In the child that would execute the launcher of the job, as which it counts: execute it again and
 * again, print what the agent has printed, and exit with the agent's status. If no rl-shim works
 * there, this is the launcher, once. With began_ms an rl-shim had the agent before: nothing is
 * started, and all that it has printed is printed again. told is closed as by an exec. Returns an
 * errno if the launcher cannot be executed, and otherwise never. */
int follow(const struct shim_job *job, int told);

#endif
