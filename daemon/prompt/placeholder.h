/* SPDX-License-Identifier: MIT */
/* The placeholders of a template: tables of the functions that write what replaces them. */
#ifndef PROMPT_PLACEHOLDER_H
#define PROMPT_PLACEHOLDER_H

#include "prompt/prompt.h"
#include "proto/memory.h"

/* What a prompt is made for. */
struct setting {
	const struct profile *profile;
	enum role role;
	unsigned sees;		/* mask of enum part: nothing else of parts is looked at */
	const struct prompt_parts *parts;
};

/* {{name}}, and the function that writes what replaces it. A section brings its heading with it,
 * or nothing at all. */
struct placeholder {
	const char *name;
	unsigned part;		/* enum part; 0: for everybody */
	void (*write)(struct buf *out, const struct setting *s);
};

/* Sections in the order of a prompt, all but the last one, the contract. Ends with name NULL. */
extern const struct placeholder placeholder_sections[];
/* Words inside a line. Ends with name NULL. */
extern const struct placeholder placeholder_values[];

/* False: the follow-up comes from a check or a human. */
bool feedback_is_of_review(const struct prompt_parts *parts);
/* That the work was interrupted, if so; then the feedback under a line that says whose it is,
 * without heading and fence. */
void feedback_write(struct buf *out, const struct setting *s);

#endif
