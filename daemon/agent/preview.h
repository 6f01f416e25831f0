/* SPDX-License-Identifier: MIT */
/* The last lines of what a program has shown so far, found from the end of its output
 * to the beginning. */
#ifndef AGENT_PREVIEW_H
#define AGENT_PREVIEW_H

#include <stdbool.h>
#include <stddef.h>

#define PREVIEW_LINES_MAX 20
#define PREVIEW_CHARACTERS 220		/* of one line; what is longer ends with an ellipsis */

/* The end of a stream. */
struct preview_tail {
	const char *data;
	size_t size;
	bool cut;		/* more stands in front of it: the first line has
				 * lost its beginning */
};

struct preview {
	char *lines[PREVIEW_LINES_MAX];		/* the newest first */
	size_t count, wanted;
};

bool preview_full(const struct preview *p);

/* The lines of a text as people read them, the last one first, until the preview is full: without
 * blank ones, without repeats of the one before, control characters made visible. */
void preview_text(struct preview *p, const struct preview_tail *text);

/* The next line towards the beginning, up to a byte of ends; *at begins as tail->size.
 * False: there is none. */
bool preview_back(const struct preview_tail *tail, const char *ends, size_t *at, struct preview_tail *line);

#endif
