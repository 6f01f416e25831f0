/* SPDX-License-Identifier: MIT */
/* A program that prints its answer: the final text is all of stdout. */
#include "agent/reader.h"

#include <stdlib.h>

#include "agent/answer.h"
#include "proto/memory.h"

static void *text_new(void)
{
	return xcalloc(1, sizeof(struct answer));
}

static void text_feed(void *state, const char *data, size_t size)
{
	answer_add(state, data, size);
}

static void text_gap(void *state)
{
	answer_lost(state);
}

static void text_end(void *state, struct agent_result *out)
{
	answer_end(state, out);
	out->unanswered = out->size == 0;
	free(state);
}

const struct reader_type reader_text = { "text", text_new, text_feed, text_gap, NULL, text_end, NULL, NULL };
