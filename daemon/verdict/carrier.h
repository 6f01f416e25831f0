/* SPDX-License-Identifier: MIT */
/* The carriers: how a profile's reviewer reports its findings. One file each, and one row each in
 * verdict.c. A reader gets the reviewer's output and fills in out, which is zeroed before. */
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
/* Exit status 0 or 1, and the program's output. */
void carrier_exit_read(const struct verdict_input *in, struct verdict *out);
/* A file {"comments": [{"file", "line", "severity": "must-fix" | "suggestion", "comment"}],
 * "summary": "..."}. */
void carrier_comments_read(const struct verdict_input *in, struct verdict *out);

/* The single finding of a carrier whose findings are one text: the feedback. */
void carrier_single_finding(struct verdict *out);

#endif
