/* SPDX-License-Identifier: MIT */
/* Whether a running attempt has given its final result, and whether it makes progress. */
#ifndef JOB_READ_RESULT_H
#define JOB_READ_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/progress.h"
#include "agent/reader.h"
#include "model/job.h"

struct result_job {
	struct job job;
	int64_t run, iteration, slot, attempt;
	enum reader_kind reader;
	uint64_t size;			/* of its stdout at the last look */
	uint64_t read;			/* ... and when it was read last */
	bool over;			/* in, out: what its last reading says, false when
					 * there is more since */
	int64_t idle_ms;		/* in: so long may it be without progress; 0: for ever */
	struct progress *progress;	/* owned; NULL: before the first look */
	uint64_t seen;			/* of its stdout, looked through for progress */
	int64_t progress_at;		/* of clock_steady(), when there was some last, or it
					 * was looked at first */
	bool stalled;			/* out: there was none for so long */
};

extern const struct job_type read_result_type;

#endif
