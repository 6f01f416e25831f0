/* SPDX-License-Identifier: MIT */
/* Lines of an answer that are the agent's own words: not in a Markdown fence or a quotation ("> "),
 * and not blank. Pure. */
#ifndef BASE_OWN_LINES_H
#define BASE_OWN_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* A line without its newline and surrounding white space. */
struct own_line {
	const char *text;
	size_t size;
};

/* Where in a text; begin with own_lines_of(). */
struct own_lines {
	const char *text;
	size_t size, at;
	size_t open;		/* size of the open fence, 0: none */
	char fence;
};

struct own_lines own_lines_of(const char *text, size_t size);
/* The next one; false: there are no more. */
bool own_lines_next(struct own_lines *lines, struct own_line *line);
/* A text without surrounding white space. */
struct own_line own_line_trim(const char *text, size_t size);

#endif
