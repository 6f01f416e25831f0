/* SPDX-License-Identifier: MIT */
/* Removes what only an unfinished run needs. */
#ifndef JOB_CLEANUP_H
#define JOB_CLEANUP_H

#include <stdint.h>

#include "model/job.h"

struct cleanup_job {
	struct job job;
	int64_t run;			/* ended: remove its scratch directory; ROW_NONE: none */
	/* owned: hash of an environment that no unfinished run uses, NULL */
	char *environment;
	/* owned: "<uid>-<name>" of a blob that became a run's task, NULL */
	char *blob;
	/* owned: environments of unfinished runs; all others are removed; NULL: no sweep */
	char **keep;
	/* owned: carrier file left by a reviewer in the working directory, NULL */
	char *leftover;
};

extern const struct job_type cleanup_type;

#endif
