/* SPDX-License-Identifier: MIT */
/* Turns a reviewer's output into a verdict, or the fixed reason of a violation. Pure; one file per
 * carrier.
 *
 * An echo is not an answer. The prompt gives the attempt's nonce in two halves, so that no part of
 * the prompt has it whole. VERDICT, DECISION: an object whose "review" is the nonce counts; with
 * any other "review" the output is a violation; an object without it counts unless an equal one
 * stands in what the reviewer was given (verdict/echo.h), since a program may know nothing of the
 * nonce. The object may be in the text or in $RL_VERDICT_FILE. The file counts if it is not empty;
 * a pass in it beside anything but a pass in the text is a violation. FILE: a pass is the line
 * "Review finished: NONCE" at the end of the text. The carrier files of FILE and COMMENTS, and the
 * status of EXIT, need no nonce: a copy of the prompt makes none of them a pass. */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"
#include "verdict/echo.h"

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
	bool silent;		/* FILE: a pass without the nonce, by `silence` */
	struct verdict_finding *findings;
	size_t nfindings;
	char *beside;		/* FILE: text in none of the findings; NULL: there is none */
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
	/* of the attempt; NULL: its run began with a version without nonces, whose rules hold: any
	 * object and any final text counts, and contradictions are not looked for */
	const char *nonce;
	/* what the reviewer was given to judge, and the whole prompt, which may have an example of
	 * an answer in a template of the user's */
	const struct echo_text *given;
	size_t ngiven;
	struct echo_text prompt;
	bool silence;		/* FILE: any final text is a pass (review.silence) */
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
