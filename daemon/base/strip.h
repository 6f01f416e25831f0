/* SPDX-License-Identifier: MIT */
/* Removes terminal escape sequences from a text, but never a brace, quote, backslash or newline
 * with them. */
#ifndef BASE_STRIP_H
#define BASE_STRIP_H

#include <stddef.h>

/* A copy without them, *stripped bytes, malloc'd; NULL if there are none. */
char *strip_escapes(const char *text, size_t size, size_t *stripped);

/* Message of a program as part of a sentence: without escape sequences and newlines, white space
 * reduced to single blanks, and other unsafe characters escaped by text_escape(). malloc'd. */
char *strip_line(const char *text);

#endif
