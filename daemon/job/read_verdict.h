/* SPDX-License-Identifier: MIT */
/* Reads the verdict from what a review attempt left behind. */
#ifndef JOB_READ_VERDICT_H
#define JOB_READ_VERDICT_H

#include <stdbool.h>
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
	char *nonce;			/* owned; NULL: none, see verdict/verdict.h */
	bool silence;			/* review.silence = "pass" */
	char *review_file;		/* owned: path of the carrier file; NULL: the
					 * carrier has none */
	char *workspace;		/* owned: as in the run's row */
	/* owned: hashes of what is read, as in the attempt's row; NULL: there is none, or it is of
	 * an earlier version, see carrier_copy */
	char *answer_hash, *carrier_hash, *carrier_fault, *prompt_hash, *diff_hash, *given_hash;
	/* owned: the tree that the reviewer worked in; NULL: skip the check for misnamed files */
	char *top;
	char *misnamed;			/* owned: file of misnamed_note() for it */
	/* owned: where a corrector looks for it, if elsewhere; NULL */
	char *copy_to;
	struct verdict verdict;		/* out, owned */
	/* out, owned: the answer could not be read, so there is no verdict at all */
	char *error;
};

extern const struct job_type read_verdict_type;

#endif
