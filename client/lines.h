/* SPDX-License-Identifier: MIT */
/* Lines of text as wide as a screen at most, made piece by piece. */
#ifndef CLIENT_LINES_H
#define CLIENT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/print.h"
#include "proto/memory.h"

struct lines {
	char **line;		/* finished ones */
	size_t count, room;
	size_t width;		/* columns; 0: no limit */
	bool color;
	struct buf open;	/* the one being made */
	size_t used;		/* its columns */
};

void lines_init(struct lines *l, size_t width, bool color);
void lines_release(struct lines *l);

/* Put text behind what the open line has: escaped, and cut where the line ends. What comes behind
 * a cut is dropped. */
void lines_add(struct lines *l, enum paint paint, const char *text);
void lines_addf(struct lines *l, enum paint paint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Columns that the open line has left; SIZE_MAX without a limit. */
size_t lines_left(const struct lines *l);

/* The open line is done, also an empty one. */
void lines_end(struct lines *l);

/* Those that are finished. */
void lines_print(const struct lines *l, FILE *file);

#endif
