/* SPDX-License-Identifier: MIT */
/* What a reader of one output format is made of. */
#ifndef AGENT_READER_H
#define AGENT_READER_H

#include "agent/agent.h"

struct reader_type {
	const char *name;	/* as in reader_names */
	void *(*new)(void);
	void (*feed)(void *state, const char *data, size_t size);
	void (*gap)(void *state);
	/* Frees state; out is empty: no text, nothing given, provider ok. */
	void (*end)(void *state, struct agent_result *out);
};

extern const struct reader_type reader_text, reader_claude;

/* Room for one more line; what is longer is passed over. */
#define READER_LINE_MAX (8 * 1024 * 1024)

#endif
