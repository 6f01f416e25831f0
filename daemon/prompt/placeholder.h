/* SPDX-License-Identifier: MIT */
/* The placeholders of a template: tables of the functions that write their content. */
#ifndef PROMPT_PLACEHOLDER_H
#define PROMPT_PLACEHOLDER_H

#include "prompt/prompt.h"
#include "proto/memory.h"

/* Input for a prompt. */
struct setting {
	const struct profile *profile;
	enum role role;
	unsigned sees;		/* mask of enum part: other parts are ignored */
	const struct prompt_parts *parts;
};

/* {{name}}, and the function that writes its content. A section includes its heading, or is
 * empty. */
struct placeholder {
	const char *name;
	unsigned part;		/* enum part; 0: for all roles */
	void (*write)(struct buf *out, const struct setting *s);
};

/* Sections in the order of a prompt, except the last one, the contract. Ends with name NULL. */
extern const struct placeholder placeholder_sections[];
/* Words inside a line. Ends with name NULL. */
extern const struct placeholder placeholder_values[];

/* The section of {{disputed}}: a fixer is told how to dispute, a reviewer what is disputed. */
void disputed_write(struct buf *out, const struct setting *s);
/* Likewise of {{question}}: an agent is told what was asked, and that it may ask. */
void asking_write(struct buf *out, const struct setting *s);
/* Write that the work was interrupted, if so; then the answer to the question of the
 * conversation. */
void reply_write(struct buf *out, const struct setting *s);
/* False: the follow-up comes from a check or a human. */
bool feedback_is_of_review(const struct prompt_parts *parts);
/* Write that the work was interrupted, if so; then the feedback under a line with its origin,
 * without heading and fence. */
void feedback_write(struct buf *out, const struct setting *s);
/* Likewise the question about a malformed answer, in one line. */
void question_write(struct buf *out, const struct setting *s);

#endif
