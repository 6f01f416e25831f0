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
	char **ids;			/* owned: tasks that it may pick */
	bool last;			/* it has ended: a last line without a newline counts */
	uint64_t unasked[2];		/* of stdout and stderr: as in collect_job */
	struct pick *pick[2];		/* owned: stdout, stderr, as far as they were looked at */
	uint64_t offset[2];
	char *picked;			/* out, owned: NULL: nothing yet */
};

extern const struct job_type read_pick_type;

#endif
