/* SPDX-License-Identifier: MIT */
/* Where each attempt stands in the picture of a run: slots that work at the same time are in rows
 * of their own, and what runs at the same time in a slot in lines of its row. */
#ifndef CLIENT_PAGE_TIMELINE_LAYOUT_H
#define CLIENT_PAGE_TIMELINE_LAYOUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/page/timescale.h"

#define BAR_TALL 14	/* px */
#define BAR_GAP 2
#define LABEL_TALL 16
#define ROW_GAP 10

/* An attempt as a bar. */
struct timeline_bar {
	const json_t *attempt;
	struct timespan span;
	size_t line;		/* of its slot, where several run at a time */
};

/* What one slot did for its task: bars that stand together. */
struct timeline_block {
	int64_t iteration, slot;
	const char *task;
	struct timeline_bar *bars;
	size_t count, lines;
	struct timespan span;
	size_t row;
};

/* The picture: blocks in rows. */
struct timeline {
	struct timeline_block *blocks;
	size_t count;
	struct timeline_row {
		int64_t until;		/* when its last block ends */
		size_t lines, top;	/* top in px */
	} *rows;
	size_t row_count;
	size_t tall;			/* px */
	struct timescale scale;
};

/* The attempts of d that have started, at most PIECE_ATTEMPTS_MAX. Returns false if there are
 * none. */
bool layout_read(struct timeline *t, const json_t *d);
void layout_release(struct timeline *t);

#endif
