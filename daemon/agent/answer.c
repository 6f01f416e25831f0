/* SPDX-License-Identifier: MIT */
#include "agent/answer.h"

#include <string.h>

/* Up to twice as much is held, so that dropping costs nothing per byte. */
enum { KEPT = AGENT_TEXT_MAX - (sizeof(AGENT_CUT_LINE) - 1) };

static void drop(struct answer *a, size_t size)
{
	if (size == 0)
		return;
	memmove(a->tail.data, a->tail.data + size, a->tail.size - size);
	a->tail.size -= size;
	a->truncated = true;
}

void answer_add(struct answer *a, const char *data, size_t size)
{
	size_t part;

	for (; size > 0; data += part, size -= part) {
		if (a->tail.size >= 2 * (size_t)KEPT)
			drop(a, a->tail.size - KEPT);
		part = 2 * (size_t)KEPT - a->tail.size;
		if (part > size)
			part = size;
		buf_add(&a->tail, data, part);
	}
}

void answer_set(struct answer *a, const char *text)
{
	a->tail.size = 0;
	a->truncated = false;
	if (text != NULL)
		answer_add(a, text, strlen(text));
}

void answer_lost(struct answer *a)
{
	a->tail.size = 0;
	a->truncated = true;
}

void answer_end(struct answer *a, struct agent_result *out)
{
	struct buf text = { 0 };

	if (a->tail.size > KEPT)
		drop(a, a->tail.size - KEPT);
	out->truncated = a->truncated;
	if (a->truncated) {
		buf_adds(&text, AGENT_CUT_LINE);
		buf_add(&text, a->tail.data, a->tail.size);
		buf_release(&a->tail);
	} else {
		/* bytes of an earlier answer may follow the end */
		buf_add(&a->tail, "", 0);
		text = a->tail;
		a->tail = (struct buf){ 0 };
	}
	out->text = buf_take(&text, &out->size);
}
