/* SPDX-License-Identifier: MIT */
/* Where each part of a prompt comes from: a table, part by source of the tasks. Which parts a role
 * is given is in the row of its profile (core/profile.h), and which profile the reviews of a source
 * have, where that is not the run's, in the row of the source (task/task_op.h). tests/lint looks
 * for gaps, and tests/system/test_parts.py for every part in the prompt as an agent gets it. */
#ifndef JOB_FILLER_H
#define JOB_FILLER_H

#include "job/build.h"
#include "job/build_int.h"
#include "task/task_op.h"

/* Every part that the role of w is given. */
void filler_fill(struct prompt_parts *parts, const struct build_job *w, const struct sources *s);

#endif
