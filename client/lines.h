/* SPDX-License-Identifier: MIT */
/* Lines of text, at most as wide as the screen, built piece by piece. */
#ifndef CLIENT_LINES_H
#define CLIENT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/print.h"
#include "proto/memory.h"

struct lines {
	char **line;		/* finished lines */
	size_t count, room;
	size_t width;		/* columns; 0: no limit */
	bool color;
	struct buf open;	/* the line being built */
	size_t used;		/* its columns */
};

void lines_init(struct lines *l, size_t width, bool color);
void lines_release(struct lines *l);

/* Append text to the open line: escaped, and cut at the end of the line. Text after a cut is
 * dropped. */
void lines_add(struct lines *l, enum paint paint, const char *text);
void lines_addf(struct lines *l, enum paint paint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Columns left on the open line; SIZE_MAX without a limit. */
size_t lines_left(const struct lines *l);

/* Finish the open line, even if it is empty. */
void lines_end(struct lines *l);

/* Print the finished lines. */
void lines_print(const struct lines *l, FILE *file);

#endif
