/* SPDX-License-Identifier: MIT */
/* Makes the run's directory: task file, and what reviews go by as it is before any
 * coder has run. */
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
	const struct plan *plan;	/* borrowed from the run: it never changes */
	const struct plan *review_plan;	/* plan or &task_plan, see review_basis_plan(); NULL:
					 * nothing is reviewed */
	struct plan task_plan;		/* owned: review_plan, when it is a task's */
	int64_t retry_of;		/* run that this one retries, ROW_NONE */
	char **artifacts;		/* owned: see git_op_spec */
	char *text;			/* owned: the task */
	size_t text_size;
	char *error;			/* out: NULL when it is done */
	char **warnings;		/* out, owned; NULL: none */
	bool taken_over;		/* out: what reviews go by is what the retried
					 * run was judged by */
};

extern const struct job_type prepare_run_dir_type;

#endif
