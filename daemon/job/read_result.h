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
	uint64_t size;			/* size of its stdout at the last check */
	uint64_t read;			/* ... and when it was last read */
	/* in, out: whether it has its final result; false if there is newer output */
	bool over;
	int64_t idle_ms;		/* in: limit for no progress; 0: none */
	struct progress *progress;	/* owned; NULL: before the first check */
	uint64_t seen;			/* part of its stdout that was searched for progress */
	int64_t progress_at;		/* of clock_steady(): last progress, or the first check */
	bool stalled;			/* out: no progress for idle_ms */
};

extern const struct job_type read_result_type;

#endif
