/* SPDX-License-Identifier: MIT */
/* Removes what only an unfinished run needs. */
#ifndef JOB_CLEANUP_H
#define JOB_CLEANUP_H

#include <stdint.h>

#include "model/job.h"

struct cleanup_job {
	struct job job;
	int64_t run;			/* ended: its scratch directory; ROW_NONE: none */
	char *environment;		/* owned: hash that no unfinished run uses any more, NULL */
	char *blob;			/* owned: "<uid>-<name>" of a blob that has become a
					 * run's task, NULL */
	char **keep;			/* owned: every environment but these is of no unfinished
					 * run; NULL: no sweep */
	char *leftover;			/* owned: carrier file that a reviewer left in the
					 * working directory, NULL */
};

extern const struct job_type cleanup_type;

#endif
