/* SPDX-License-Identifier: MIT */
/* A part of an attempt's output as a conversation: interpreted by its reader, and redacted. */
#ifndef JOB_ATTEMPT_TRANSCRIPT_H
#define JOB_ATTEMPT_TRANSCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/show.h"
#include "base/redact.h"
#include "core/plan.h"

struct transcript {
	struct show show;
	int64_t offset, next;	/* of stdout, as the agent wrote it */
	int64_t dropped;	/* bytes missing before offset */
	bool eof;
};

/* Off the loop. complete: nothing will be appended any more. An offset in the middle of a line
 * continues after that line. Returns 0 or -errno: nothing was read. show_release() frees
 * t->show. */
int transcript_read(int dirfd, enum reader_kind reader, const struct redactor *redactor, int64_t offset,
    bool complete, struct transcript *t);

#endif
