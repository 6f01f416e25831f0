/* SPDX-License-Identifier: MIT */
#include "client/page/timescale.h"

#include <stdlib.h>

#include "proto/memory.h"

#define IDLE_SHARE 8	/* a gap longer than this part of the busy time is shortened */
#define IDLE_WIDTH 5.0	/* to so much of 100 */

static void timescale_add(struct timescale *s, int64_t from, int64_t to, bool idle)
{
	s->parts = xreallocarray(s->parts, s->count + 1, sizeof(*s->parts));
	s->parts[s->count++] = (struct timescale_part){ .span = { from, to }, .idle = idle };
}

/* Parts with attempts, and the gaps between them. Returns the busy time. */
static int64_t timescale_split(struct timescale *s, const struct timespan *spans, size_t count)
{
	struct timespan busy = spans[0];
	int64_t sum = 0;

	for (size_t i = 1; i < count; i++) {
		if (spans[i].from > busy.to) {
			timescale_add(s, busy.from, busy.to, false);
			timescale_add(s, busy.to, spans[i].from, true);
			sum += busy.to - busy.from;
			busy = spans[i];
		} else if (spans[i].to > busy.to) {
			busy.to = spans[i].to;
		}
	}
	timescale_add(s, busy.from, busy.to, false);
	return sum + busy.to - busy.from;
}

/* The width of all shortened gaps, at most half of all. */
static double timescale_idle_width(const struct timescale *s, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < s->count; i++)
		*count += s->parts[i].idle;
	return (double)*count * IDLE_WIDTH > 50.0 ? 50.0 / (double)*count : IDLE_WIDTH;
}

void timescale_make(struct timescale *s, const struct timespan *spans, size_t count)
{
	int64_t busy, shown = 0;
	double at = 0, idle, rest;
	size_t gaps;

	*s = (struct timescale){ 0 };
	busy = timescale_split(s, spans, count);
	for (size_t i = 0; i < s->count; i++) {
		struct timescale_part *part = &s->parts[i];

		part->idle = part->idle && part->span.to - part->span.from > busy / IDLE_SHARE;
		shown += part->idle ? 0 : part->span.to - part->span.from;
	}
	idle = timescale_idle_width(s, &gaps);
	rest = 100.0 - idle * (double)gaps;
	for (size_t i = 0; i < s->count; i++) {
		struct timescale_part *part = &s->parts[i];

		part->at = at;
		part->width = part->idle ? idle :
		    shown > 0 ? rest * (double)(part->span.to - part->span.from) / (double)shown : rest;
		at += part->width;
	}
}

void timescale_release(struct timescale *s)
{
	free(s->parts);
	*s = (struct timescale){ 0 };
}

double timescale_at(const struct timescale *s, int64_t time)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct timescale_part *part = &s->parts[i];
		int64_t length = part->span.to - part->span.from;

		if (time <= part->span.from)
			return part->at;
		if (time < part->span.to)
			return part->at + part->width * (double)(time - part->span.from) / (double)length;
	}
	return 100.0;
}
