/* SPDX-License-Identifier: MIT */
/* Writes what people read: a review log in the working directory, and the report of a run. */
#ifndef JOB_WRITE_LOG_H
#define JOB_WRITE_LOG_H

#include <stdint.h>

#include "model/view.h"
#include "model/work.h"

struct log_work {
	struct work work;
	int64_t run;
	char *base;			/* owned: directory that dir is below, and no link in it is followed; NULL: dir is absolute */
	char *dir, *name;		/* owned */
	char *text;			/* owned */
	char *error;			/* out, owned */
};

struct report_work {
	struct work work;
	struct run_rows *rows;		/* owned */
	char *path;			/* owned */
	char *error;			/* out, owned */
};

extern const struct work_type write_log_type;
extern const struct work_type write_report_type;

#endif
