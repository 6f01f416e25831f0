/* SPDX-License-Identifier: MIT */
/* A program that prints its answer: the final text is all of stdout. */
#include "agent/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { KEPT = AGENT_TEXT_MAX - (sizeof(AGENT_CUT_LINE) - 1) };

struct text_reader {
	struct buf tail;	/* at most twice KEPT, so that dropping costs nothing by the byte */
	bool truncated;
};

static void *text_new(void)
{
	return xcalloc(1, sizeof(struct text_reader));
}

static void drop(struct text_reader *r, size_t size)
{
	if (size == 0)
		return;
	memmove(r->tail.data, r->tail.data + size, r->tail.size - size);
	r->tail.size -= size;
	r->truncated = true;
}

static void text_feed(void *state, const char *data, size_t size)
{
	struct text_reader *r = state;
	size_t part;

	for (; size > 0; data += part, size -= part) {
		if (r->tail.size >= 2 * (size_t)KEPT)
			drop(r, r->tail.size - KEPT);
		part = 2 * (size_t)KEPT - r->tail.size;
		if (part > size)
			part = size;
		buf_add(&r->tail, data, part);
	}
}

/* A text with a hole reads as something that nobody said: what stands before it goes. */
static void text_gap(void *state)
{
	struct text_reader *r = state;

	drop(r, r->tail.size);
	r->truncated = true;
}

static void text_end(void *state, struct agent_result *out)
{
	struct text_reader *r = state;
	struct buf text = { 0 };

	if (r->tail.size > KEPT)
		drop(r, r->tail.size - KEPT);
	out->truncated = r->truncated;
	if (r->truncated) {
		buf_adds(&text, AGENT_CUT_LINE);
		buf_add(&text, r->tail.data, r->tail.size);
		buf_release(&r->tail);
	} else {
		text = r->tail;
	}
	out->text = buf_take(&text, &out->size);
	free(r);
}

const struct reader_type reader_text = { "text", text_new, text_feed, text_gap, text_end, preview_text };
