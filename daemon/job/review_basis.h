/* SPDX-License-Identifier: MIT */
/* What the reviews of a run go by: the reviewer's prompt, guidelines and conventions, read before
 * any coder has run and kept in the run's directory. */
#ifndef JOB_REVIEW_BASIS_H
#define JOB_REVIEW_BASIS_H

#include "core/plan.h"
#include "core/row.h"

struct prepare_run_dir_job;

/* The settings that say what a run's reviews go by: the run's own, else those of the first of its
 * tasks that is reviewed (the reviews of a workflow have one profile, and so the same rules).
 * NULL: nothing is reviewed. A task's plan is put into *own, which starts zeroed and is the
 * caller's to release. */
const struct plan *review_basis_plan(const struct plan *run, const struct task_row *const *tasks,
    size_t count, struct plan *own);

/* Reads all of it into dir, the run's directory, or takes over what the run that this one
 * retries was judged by. 0 or -errno; what a person must mend is work->error, what was not
 * found work->warnings. */
int review_basis_keep(struct prepare_run_dir_job *job, const char *dir);

#endif
