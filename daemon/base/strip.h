/* SPDX-License-Identifier: MIT */
/* Takes the escape sequences of a terminal out of a text, and never a brace, quote, backslash or
 * line end with them. */
#ifndef BASE_STRIP_H
#define BASE_STRIP_H

#include <stddef.h>

/* A copy without them, *stripped bytes, malloc'd; NULL when there are none in it. */
char *strip_escapes(const char *text, size_t size, size_t *stripped);

/* Words of a program as a part of one sentence: without escape sequences and without line ends,
 * each stretch of white space a blank, and what else is not fit for a terminal or a log as
 * text_escape() shows it. malloc'd. */
char *strip_line(const char *text);

#endif
