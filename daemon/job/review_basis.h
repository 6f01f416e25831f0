/* SPDX-License-Identifier: MIT */
/* What the reviews of a run are based on: the reviewer's prompt, guidelines and conventions, read
 * before any coder has run and saved in the run's directory. */
#ifndef JOB_REVIEW_BASIS_H
#define JOB_REVIEW_BASIS_H

#include "core/plan.h"
#include "core/row.h"

struct prepare_run_dir_job;

/* The settings for a run's review criteria: the run's own, otherwise those of its first reviewed
 * task (all reviews of a workflow have one profile, and so the same criteria). NULL: no reviews. A
 * task's plan is put into *own, which must be zeroed and is released by the caller. */
const struct plan *review_basis_plan(const struct plan *run, const struct task_row *const *tasks,
    size_t count, struct plan *own);

/* Save the review criteria in dir, the run's directory, or copy those of the retried run. Returns 0
 * or -errno; work->error if a person must fix something, work->warnings about missing files. */
int review_basis_keep(struct prepare_run_dir_job *job, const char *dir);

#endif
