/* SPDX-License-Identifier: MIT */
/* Text of reviewers made fit for rows and prompts: UTF-8 without NUL, bounded with a
 * visible cut. */
#ifndef VERDICT_CLEAN_H
#define VERDICT_CLEAN_H

#include <stdbool.h>
#include <stddef.h>

#define CLEAN_FEEDBACK_MAX (64 * 1024)	/* bytes of a feedback that is no part of a JSON text */
#define CLEAN_FINDING_MAX (8 * 1024)	/* of the text of one finding out of many */

/* Nothing but white space, behind a BOM or not. NULL is blank. */
bool clean_is_blank(const char *text, size_t size);

/* The same of what is left without escape sequences: colours alone are no words. */
bool clean_is_silent(const char *text, size_t size);

/* A copy with U+FFFD for each byte that is no UTF-8 or a NUL, without a BOM. More than max bytes
 * are cut in the middle, where a line says how many are left out. malloc'd. */
char *clean_text(const char *text, size_t size, size_t max);

#endif
