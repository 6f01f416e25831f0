/* SPDX-License-Identifier: MIT */
/* Turns a reviewer's output into a verdict, or the fixed reason of a violation. Pure; one file per
 * carrier. */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"

enum verdict_kind {
	VERDICT_NONE,		/* violation: see reason */
	VERDICT_PASS,
	VERDICT_FINDINGS
};

/* An item of a review as given by the reviewer. All owned, NULL if not given. */
struct verdict_finding {
	char *file;
	long line;		/* 0: not given */
	char *severity;
	char *text;
};

struct verdict {
	enum verdict_kind kind;
	char *reason;		/* VERDICT_NONE: one of a fixed set of sentences, see
				 * docs/protocol.md */
	char *feedback;		/* for the fixer; never NULL or blank for VERDICT_FINDINGS */
	char *quality_checks;	/* DECISION: the object as compact JSON; NULL: not given */
	const char *source;	/* "text", "file" or "exit", static; NULL if nothing was read */
	struct verdict_finding *findings;
	size_t nfindings;
};

/* Output of a reviewer. text: its final text, any bytes. file: for VERDICT and DECISION
 * $RL_VERDICT_FILE, for FILE and COMMENTS the carrier file in the working directory; NULL:
 * missing. */
struct verdict_input {
	const char *text;
	size_t text_size;
	const char *file;
	size_t file_size;
	int64_t status;		/* EXIT: exit status, 0 or 1 */
};

/* Read by the profile's carrier. Always fills in out. */
void verdict_read(enum carrier carrier, const struct verdict_input *in, struct verdict *out);
void verdict_release(struct verdict *v);

/* The items of a Markdown review file that a corrector marked ("- [x] FIXED: text", "FIXED: text",
 * with or without list mark, check box and emphasis): their texts as in the review, without the
 * mark, so that finding_id() matches. Split into file, line, severity and text like the file
 * carrier. Returns their number; *out is new, NULL if there are none. */
size_t verdict_marks(const char *text, size_t size, struct verdict_finding **out);
void verdict_findings_free(struct verdict_finding *findings, size_t count);

#endif
