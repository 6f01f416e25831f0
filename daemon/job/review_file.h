/* SPDX-License-Identifier: MIT */
/* Puts the review file of a panel where a corrector and the user find it: what its reviewers have
 * found, or nothing. */
#ifndef JOB_REVIEW_FILE_H
#define JOB_REVIEW_FILE_H

#include "model/job.h"
#include "model/slot_key.h"

struct review_file_job {
	struct job job;
	struct slot_key key;		/* the slot that waits for it */
	char *workspace;		/* owned: as in the run's row */
	char *path;			/* owned: of the file in the work tree */
	char *text;			/* owned; NULL: there is to be no file */
	char *error;			/* out, owned: why the host prevented it */
};

extern const struct job_type review_file_type;

#endif
