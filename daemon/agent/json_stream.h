/* SPDX-License-Identifier: MIT */
/* The JSON documents of a stream, whatever their layout: one per line, elements of one array, or
 * indented over many lines. Bounded memory for any input. */
#ifndef AGENT_JSON_STREAM_H
#define AGENT_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/memory.h"

struct json_stream {
	struct buf document;	/* the current document so far */
	enum { STREAM_BETWEEN, STREAM_NOISE, STREAM_DOCUMENT } at;
	/* a document may begin here: at a line, an array or the next element */
	bool fresh;
	bool opening;		/* only the opening brace has been read */
	bool indented;		/* it spans several lines */
	bool line_start;
	bool in_string, escaped;
	bool skipping;		/* it is too long; skip to its end */
	size_t depth;
};

/* The receiver of the documents. */
struct json_taker {
	/* A complete object, at most READER_LINE_MAX bytes; it may still be invalid JSON. */
	void (*document)(void *state, const char *data, size_t size);
	/* A longer document was skipped; head: its first bytes, enough for the name of its type.
	 * NULL: not wanted. */
	void (*lost)(void *state, const char *head, size_t size);
};

void json_stream_init(struct json_stream *s);
void json_stream_feed(struct json_stream *s, const char *data, size_t size,
    const struct json_taker *taker, void *state);
/* Bytes are missing here: ignore the current document and the rest of the line. */
void json_stream_gap(struct json_stream *s);
void json_stream_release(struct json_stream *s);

#endif
