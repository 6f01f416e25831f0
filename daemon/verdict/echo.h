/* SPDX-License-Identifier: MIT */
/* Whether a reviewer's JSON object also stands in what it was given: then it may be a copy, and is
 * no evidence. Pure. */
#ifndef VERDICT_ECHO_H
#define VERDICT_ECHO_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* A text that a reviewer was given. */
struct echo_text {
	const char *data;
	size_t size;
	/* its lines begin with a mark of their own, and its headers quote file names */
	bool diff;
};

/* Order of the members, white space (inside strings as well), and the notation of numbers and
 * characters make no difference; nor do escape sequences, and the line mark of a diff. Any object
 * counts, whatever is around it. Linear in the size of the text, times the depth of the object. */
bool echo_found(const struct echo_text *text, const json_t *object);

#endif
