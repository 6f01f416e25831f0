/* SPDX-License-Identifier: MIT */
/* A final text that grows: its tail in bounded memory, and whether anything is missing of it. */
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
/* Another answer takes its place, whole. text NULL: an empty one. */
void answer_set(struct answer *a, const char *text);
/* Bytes are missing here: the text before the gap is dropped, since joined parts would be a text
 * that the agent never wrote. */
void answer_lost(struct answer *a);
/* Fills text, size and truncated; leaves nothing to release. */
void answer_end(struct answer *a, struct agent_result *out);

#endif
