/* SPDX-License-Identifier: MIT */
/* Writes files for users: a review log in the working directory, and the report of a run. */
#ifndef JOB_WRITE_LOG_H
#define JOB_WRITE_LOG_H

#include <stdint.h>

#include "model/job.h"
#include "model/view.h"

struct log_job {
	struct job job;
	int64_t run;
	/* owned: directory that contains dir, below which no link is followed; NULL: dir is
	 * absolute */
	char *base;
	char *dir, *name;		/* owned */
	char *text;			/* owned */
	char *error;			/* out, owned */
};

struct report_job {
	struct job job;
	struct run_rows *rows;		/* owned */
	char *path;			/* owned */
	char *error;			/* out, owned */
};

extern const struct job_type write_log_type;
extern const struct job_type write_report_type;

#endif
