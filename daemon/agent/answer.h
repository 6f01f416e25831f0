/* SPDX-License-Identifier: MIT */
/* A growing final text: its end in bounded memory, and whether anything is missing. */
#ifndef AGENT_ANSWER_H
#define AGENT_ANSWER_H

#include "agent/agent.h"
#include "proto/memory.h"

struct answer {
	struct buf tail;
	bool truncated;
};

/* Zero bytes are an empty answer. */
void answer_add(struct answer *a, const char *data, size_t size);
/* Replace the answer. text NULL: an empty one. */
void answer_set(struct answer *a, const char *text);
/* Bytes are missing here: the text before the gap is dropped, since joined parts would be a text
 * that the agent never wrote. */
void answer_lost(struct answer *a);
/* Fill in text, size and truncated; nothing is left to release. */
void answer_end(struct answer *a, struct agent_result *out);

#endif
