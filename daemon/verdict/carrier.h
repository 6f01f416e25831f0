/* SPDX-License-Identifier: MIT */
/* The carriers: how a profile's reviewer says what it found. One file each, one row each in
 * verdict.c. A reader gets what the reviewer left behind and fills out, which is zero before. */
#ifndef VERDICT_CARRIER_H
#define VERDICT_CARRIER_H

#include "verdict/verdict.h"

#define NO_EVIDENCE "no evidence of a review"

/* {"verdict": "pass" | "drift", "followUpPrompt": "..."} somewhere in the text. */
void carrier_verdict_read(const struct verdict_input *in, struct verdict *out);
/* {"decision": "GO" | "NO_GO", "feedback": "...", "quality_checks": {"name": true}}
 * somewhere in the text. */
void carrier_decision_read(const struct verdict_input *in, struct verdict *out);
/* A Markdown file of issues. No file or a blank one is a pass, if the reviewer said anything at
 * all. */
void carrier_file_read(const struct verdict_input *in, struct verdict *out);
/* Exit status 0 or 1, and what the program printed. */
void carrier_exit_read(const struct verdict_input *in, struct verdict *out);
/* A file {"comments": [{"file", "line", "severity": "must-fix" | "suggestion", "comment"}],
 * "summary": "..."}. */
void carrier_comments_read(const struct verdict_input *in, struct verdict *out);

/* The one finding of a carrier that gives its findings as one text: the feedback. */
void carrier_single_finding(struct verdict *out);

#endif
