/* SPDX-License-Identifier: MIT */
/* Takes the escape sequences of a terminal out of a text, and never a brace, quote, backslash or line end with them. */
#ifndef VERDICT_STRIP_H
#define VERDICT_STRIP_H

#include <stddef.h>

/* A copy without them, *stripped bytes, malloc'd; NULL when there are none in it. */
char *strip_escapes(const char *text, size_t size, size_t *stripped);

#endif
