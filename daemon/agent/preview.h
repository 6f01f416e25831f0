/* SPDX-License-Identifier: MIT */
/* The last lines of a program's output so far, found from its end backwards. */
#ifndef AGENT_PREVIEW_H
#define AGENT_PREVIEW_H

#include <stdbool.h>
#include <stddef.h>

#define PREVIEW_LINES_MAX 20
#define PREVIEW_CHARACTERS 220		/* of one line; longer ones end with an ellipsis */

/* The end of a stream. */
struct preview_tail {
	const char *data;
	size_t size;
	bool cut;		/* more precedes it: the first line is incomplete */
};

struct preview {
	char *lines[PREVIEW_LINES_MAX];		/* newest first */
	size_t count, wanted;
};

bool preview_full(const struct preview *p);

/* The lines of a text in readable form, last one first, until the preview is full: no blank lines,
 * none twice in a row, control characters made visible. */
void preview_text(struct preview *p, const struct preview_tail *text);

/* The next line backwards, up to a byte of ends; *at starts as tail->size. Returns false if there
 * is none. */
bool preview_back(const struct preview_tail *tail, const char *ends, size_t *at, struct preview_tail *line);

#endif
