/* SPDX-License-Identifier: MIT */
/* Creates the run's directory with the task file. */
#ifndef JOB_PREPARE_RUN_DIR_H
#define JOB_PREPARE_RUN_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"
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
	/* read what judges, and return it in judge: the run began with an earlier version, which
	 * did not at submit */
	bool reads_judge;
	char *subdir;			/* owned: see run_row */
	int64_t retry_of;		/* likewise */
	char **artifacts;		/* owned: see git_op_spec */
	char *text;			/* owned: the task */
	size_t text_size;
	char *error;			/* out: NULL on success */
	char **warnings;		/* out, owned; NULL: none */
	struct judge_row *judge;	/* out, owned; NULL: not read */
};

extern const struct job_type prepare_run_dir_type;

#endif
