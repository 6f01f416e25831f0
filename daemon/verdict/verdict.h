/* SPDX-License-Identifier: MIT */
/* Bytes of a reviewer in, a verdict or the fixed reason of a violation out. Pure; one file per carrier. */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include <stddef.h>

#include "core/profile.h"

enum verdict_kind {
	VERDICT_NONE,		/* violation: reason says which */
	VERDICT_PASS,
	VERDICT_FINDINGS
};

/* One item of a review as the reviewer gave it. All owned, NULL when not given. */
struct verdict_finding {
	char *file;
	long line;		/* 0: not given */
	char *severity;
	char *text;
};

struct verdict {
	enum verdict_kind kind;
	char *reason;		/* VERDICT_NONE: one of a fixed set of sentences, see docs/protocol.md */
	char *feedback;		/* followUpPrompt; never NULL or blank for VERDICT_FINDINGS */
	const char *source;	/* "text" or "file", static; NULL when nothing was read */
	struct verdict_finding *findings;
	size_t nfindings;
};

/* What a reviewer left behind. text may hold any bytes; file is NULL or empty when it wrote none. */
struct verdict_input {
	const char *text;
	size_t text_size;
	const char *file;
	size_t file_size;
};

/* Read by the profile's carrier. Always fills out. */
void verdict_read(enum carrier carrier, const struct verdict_input *in, struct verdict *out);
void verdict_release(struct verdict *v);

#endif
