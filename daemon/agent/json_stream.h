/* SPDX-License-Identifier: MIT */
/* The JSON documents of a stream, however their program lays them out: one a line, elements of one
 * array, or indented over many lines. Bounded memory whatever comes. */
#ifndef AGENT_JSON_STREAM_H
#define AGENT_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/memory.h"

struct json_stream {
	struct buf document;	/* what has come of the present one */
	enum { STREAM_BETWEEN, STREAM_NOISE, STREAM_DOCUMENT } at;
	bool fresh;		/* a document may begin: a line, an array or the next element has */
	bool opening;		/* nothing but the brace that opens the document has come */
	bool indented;		/* it spans several lines */
	bool line_start;
	bool in_string, escaped;
	bool skipping;		/* it is too long, only its end is looked for */
	size_t depth;
};

/* The receiver of the documents. */
struct json_taker {
	/* A whole object, at most READER_LINE_MAX bytes; whether it is JSON is still open. */
	void (*document)(void *state, const char *data, size_t size);
	/* A longer document was skipped; head: its first bytes, enough for the name of its type.
	 * NULL: not wanted. */
	void (*lost)(void *state, const char *head, size_t size);
};

void json_stream_init(struct json_stream *s);
void json_stream_feed(struct json_stream *s, const char *data, size_t size,
    const struct json_taker *taker, void *state);
/* Bytes are missing here: neither the present document nor what is left of the line counts. */
void json_stream_gap(struct json_stream *s);
void json_stream_release(struct json_stream *s);

#endif
