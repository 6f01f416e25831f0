/* SPDX-License-Identifier: MIT */
/* Origin of each section of a prompt: a table, section by task source. The row of its profile
 * (core/profile.h) says which sections a role gets; the row of the source (task/task_op.h) says
 * which profile its reviews have, if not the run's. tests/lint finds gaps, and
 * tests/system/test_parts.py checks every section in real prompts. */
#ifndef JOB_FILLER_H
#define JOB_FILLER_H

#include "job/build.h"
#include "job/build_int.h"
#include "task/task_op.h"

/* Fill in every section for the role of w. */
void filler_fill(struct prompt_parts *parts, const struct build_job *w, const struct sources *s);

#endif
