/* SPDX-License-Identifier: MIT */
/* Creates the run's directory: the task file, and the review criteria as they are before any coder
 * has run. */
#ifndef JOB_PREPARE_RUN_DIR_H
#define JOB_PREPARE_RUN_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "model/job.h"
#include "model/slot_key.h"

struct prepare_run_dir_job {
	struct job job;
	struct slot_key key;		/* the slot that waits for it */
	int64_t run;
	char *workspace, *workdir;	/* owned */
	bool has_git;
	const struct plan *plan;	/* borrowed from the run; constant */
	/* plan or &task_plan, see review_basis_plan(); NULL: no reviews */
	const struct plan *review_plan;
	struct plan task_plan;		/* owned: review_plan, if it is a task's */
	int64_t retry_of;		/* run that this one retries, ROW_NONE */
	char **artifacts;		/* owned: see git_op_spec */
	char *text;			/* owned: the task */
	size_t text_size;
	char *error;			/* out: NULL on success */
	char **warnings;		/* out, owned; NULL: none */
	bool taken_over;		/* out: the review criteria are those of the retried run */
};

extern const struct job_type prepare_run_dir_type;

#endif
