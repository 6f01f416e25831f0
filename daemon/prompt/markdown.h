/* SPDX-License-Identifier: MIT */
/* Untrusted texts in the Markdown of a prompt. Pure. */
#ifndef PROMPT_MARKDOWN_H
#define PROMPT_MARKDOWN_H

#include "prompt/prompt.h"
#include "proto/memory.h"

/* All functions append to out. */

/* The text as it is; NULL data: nothing. */
void markdown_span(struct buf *out, struct span text);
/* Titles and names come from untrusted files: on one line they cannot imitate other sections. */
void markdown_line(struct buf *out, const char *text);
/* A list item, or with a lead of blanks a part of one: no line of the text can begin another. */
void markdown_item(struct buf *out, const char *lead, const char *text);
/* In a fence longer than any inside it, so nothing in it can end the fence. */
void markdown_fenced(struct buf *out, const char *info, struct span text);
/* Likewise, at most PROMPT_CAP code points of it. */
void markdown_capped(struct buf *out, const char *info, struct span text);
/* Likewise, under a heading and a lead; NULL data: nothing. */
void markdown_section(struct buf *out, const char *heading, const char *lead, const char *info, struct span text);

#endif
