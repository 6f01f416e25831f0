/* SPDX-License-Identifier: MIT */
/* Whether a running attempt waits for a service that refuses it. */
#ifndef JOB_READ_NOTICE_H
#define JOB_READ_NOTICE_H

#include <stdint.h>

#include "agent/notice.h"
#include "agent/reader.h"
#include "model/job.h"

struct notice_job {
	struct job job;
	int64_t run, iteration, slot, attempt;
	enum reader_kind reader;
	char *zone;			/* owned: see ending_zone() */
	uint64_t offsets[NOTICE_STREAMS];	/* how far its output was read */
	struct notice notice;		/* owned: its state at that point */
	enum provider_result decided;	/* out: see notice_decide() */
};

/* The last refusal at the end of an ended attempt's output; at: time of its end. Owned by the
 * caller, see notice_release(). */
void notice_last(struct notice *n, enum reader_kind kind, int dirfd, int64_t at, const char *zone);

extern const struct job_type read_notice_type;

#endif
