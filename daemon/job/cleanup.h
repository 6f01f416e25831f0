/* SPDX-License-Identifier: MIT */
/* Removes what only an unfinished run needs. */
#ifndef JOB_CLEANUP_H
#define JOB_CLEANUP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/job.h"

/* What is no longer needed. All owned, NULL: none. */
struct litter {
	int64_t run;			/* ended: its scratch directory and rooms; 0: none */
	char *evidence;			/* its evidence repository, which keeps its rooms */
	char *environment;		/* hash of an environment that no unfinished run uses */
	char *blob;			/* "<uid>-<name>" of a blob that became a run's task */
	char *leftover;			/* of a reviewer, in the working directory */
	bool sweep;			/* every environment that is not in use */
};

void litter_release(struct litter *litter);

struct cleanup_job {
	struct job job;
	struct litter litter;
	char **keep;			/* owned: environments in use, for litter.sweep; NULL */
};

extern const struct job_type cleanup_type;

#endif
