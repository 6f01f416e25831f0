/* SPDX-License-Identifier: MIT */
/* A scale of time on which long stretches without any attempt are shortened. */
#ifndef CLIENT_PAGE_TIMESCALE_H
#define CLIENT_PAGE_TIMESCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timespan {
	int64_t from, to;	/* ms since the epoch */
};

struct timescale_part {
	struct timespan span;
	double at, width;	/* of 100 */
	bool idle;		/* shortened */
};

struct timescale {
	struct timescale_part *parts;	/* without gaps between them */
	size_t count;
};

/* spans: at least one, sorted by their start. */
void timescale_make(struct timescale *s, const struct timespan *spans, size_t count);
void timescale_release(struct timescale *s);

/* The place of a time: 0 to 100. */
double timescale_at(const struct timescale *s, int64_t time);

#endif
