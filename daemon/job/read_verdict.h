/* SPDX-License-Identifier: MIT */
/* The verdict in what a review attempt left behind. */
#ifndef JOB_READ_VERDICT_H
#define JOB_READ_VERDICT_H

#include <stdint.h>

#include "job/secrets.h"
#include "model/job.h"
#include "model/slot_key.h"
#include "verdict/verdict.h"

struct read_verdict_job {
	struct job job;
	struct slot_key key;		/* the slot that waits for it */
	int64_t attempt;
	struct secrets secrets;		/* owned */
	enum carrier carrier;
	int64_t status;			/* exit status of the reviewer */
	char *review_file;		/* owned: path of the carrier file; NULL: the
					 * carrier has none */
	char *top;			/* owned: the tree that the reviewer was at work in, and
					 * what misnamed_note() has of it; NULL: any file may ... */
	char *misnamed;			/* owned: ... have nearly the name of review_file */
	char *copy_to;			/* owned: where a corrector looks for it, when that is
					 * another place; NULL */
	struct verdict verdict;		/* out, owned */
	char *error;			/* out, owned: the answer could not be read, so there is no
					 * verdict to speak of */
};

extern const struct job_type read_verdict_type;

#endif
