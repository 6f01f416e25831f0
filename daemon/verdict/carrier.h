/* SPDX-License-Identifier: MIT */
/* The carriers: how a profile's reviewer reports its findings. One file each, and one row each in
 * verdict.c. A reader gets the reviewer's output and fills in out, which is zeroed before. */
#ifndef VERDICT_CARRIER_H
#define VERDICT_CARRIER_H

#include "verdict/verdict.h"

#define NO_EVIDENCE "no evidence of a review"
#define CONFLICT "conflicting verdicts"
#define FOREIGN "the answer has the nonce of another review"

/* The text repeats what the prompt says about the nonce, in whatever quotes, white space and case:
 * it is a copy of the prompt, or has one in it. */
bool carrier_repeats_prompt(const struct verdict_input *in, const char *text, size_t size);

/* {"verdict": "pass" | "drift", "followUpPrompt": "..."} somewhere in the text. */
void carrier_verdict_read(const struct verdict_input *in, struct verdict *out);
/* {"decision": "GO" | "NO_GO", "feedback": "...", "quality_checks": {"name": true}}
 * somewhere in the text. */
void carrier_decision_read(const struct verdict_input *in, struct verdict *out);
/* A Markdown file of issues. No file or a blank one is a pass, if the final text ends with the line
 * about the nonce. */
void carrier_file_read(const struct verdict_input *in, struct verdict *out);
/* Exit status 0 or 1, and the program's output. */
void carrier_exit_read(const struct verdict_input *in, struct verdict *out);
/* A file {"comments": [{"file", "line", "severity": "must-fix" | "suggestion", "comment"}],
 * "summary": "..."}. */
void carrier_comments_read(const struct verdict_input *in, struct verdict *out);

/* The single finding of a carrier whose findings are one text: the feedback. */
void carrier_single_finding(struct verdict *out);

#endif
