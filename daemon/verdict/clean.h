/* SPDX-License-Identifier: MIT */
/* Makes reviewers' text fit for rows and prompts: UTF-8 without NUL, limited with a visible cut. */
#ifndef VERDICT_CLEAN_H
#define VERDICT_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

#define CLEAN_FEEDBACK_MAX (64 * 1024)	/* limit of a feedback outside a JSON text, in bytes */
#define CLEAN_FINDING_MAX (8 * 1024)	/* of the text of one finding of several */

/* Only white space, after a BOM or not. NULL is blank. */
bool clean_is_blank(const char *text, size_t size);

/* Likewise without escape sequences: colours alone say nothing. */
bool clean_is_silent(const char *text, size_t size);

/* A copy with U+FFFD for each invalid byte or NUL, without a BOM. A text of more than max bytes is
 * cut in the middle, with a line that says how much is missing. malloc'd. */
char *clean_text(const char *text, size_t size, size_t max);

#endif
