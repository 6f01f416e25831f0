/* SPDX-License-Identifier: MIT */
/* Whether a running attempt has picked its task. */
#ifndef JOB_READ_PICK_H
#define JOB_READ_PICK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/job.h"
#include "task/pick.h"

struct pick_job {
	struct job job;
	int64_t run, iteration, slot, attempt;
	char **ids;			/* owned: tasks it may pick */
	bool last;			/* it has ended: a last line without a newline counts */
	uint64_t unasked[2];		/* for stdout and stderr: as in collect_job */
	/* owned: state of stdout and stderr as far as they were read */
	struct pick *pick[2];
	uint64_t offset[2];
	char *picked;			/* out, owned: NULL: none yet */
};

extern const struct job_type read_pick_type;

#endif
