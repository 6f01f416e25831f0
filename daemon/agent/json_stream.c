/* SPDX-License-Identifier: MIT */
#include "agent/json_stream.h"

#include <string.h>

#include "agent/reader.h"

/* What is kept of a document that is too long. */
enum { HEAD = 128 };

/*
 *          '{' where one may begin              its last '}'
 * BETWEEN ───────────────────────▶ DOCUMENT ──────────────────▶ BETWEEN
 *    │                                │ cut off: a line end inside it, unless it is indented
 *    └── any other byte ──▶ NOISE ◀───┘
 *           ▲                 │ line end
 *           └── gap           └──▶ BETWEEN
 *
 * A line that begins with a brace begins a document, whatever the one before it lacks: a line that
 * was cut off takes no other with it.
 */

void json_stream_init(struct json_stream *s)
{
	*s = (struct json_stream){ .at = STREAM_BETWEEN, .fresh = true };
}

void json_stream_release(struct json_stream *s)
{
	buf_release(&s->document);
}

static void begin(struct json_stream *s)
{
	s->at = STREAM_DOCUMENT;
	s->opening = true;
	s->indented = s->line_start = s->in_string = s->escaped = s->skipping = false;
	s->depth = 0;
	s->document.size = 0;
}

static void keep(struct json_stream *s, const char *data, size_t size)
{
	if (!s->skipping && s->document.size + size > READER_LINE_MAX) {
		s->skipping = true;
		if (s->document.size < HEAD)
			buf_add(&s->document, data, HEAD);
		s->document.size = HEAD;
	}
	if (!s->skipping)
		buf_add(&s->document, data, size);
}

static void give(struct json_stream *s, const struct json_taker *taker, void *state)
{
	if (!s->skipping)
		taker->document(state, s->document.data, s->document.size);
	else if (taker->lost != NULL)
		taker->lost(state, s->document.data, s->document.size);
	s->document.size = 0;
}

/* Length of the part of a string up to a byte that may end it. */
static size_t plain(const char *data, size_t size)
{
	size_t n = 0;

	while (n < size && data[n] != '"' && data[n] != '\\' && data[n] != '\n')
		n++;
	return n;
}

enum step { STEP_ON, STEP_WHOLE, STEP_BROKEN };

static enum step line_end(struct json_stream *s)
{
	if (s->opening)
		s->indented = true;
	s->line_start = true;
	return s->indented && !s->in_string ? STEP_ON : STEP_BROKEN;
}

static enum step inside(struct json_stream *s, char c)
{
	if (c == '\n')
		return line_end(s);
	if (s->line_start && c == '{')
		return STEP_BROKEN;
	s->line_start = false;
	if (s->depth > 0 && c != ' ' && c != '\t' && c != '\r')
		s->opening = false;
	if (s->in_string) {
		if (s->escaped)
			s->escaped = false;
		else if (c == '\\')
			s->escaped = true;
		else
			s->in_string = c != '"';
		return STEP_ON;
	}
	switch (c) {
	case '"':
		s->in_string = true;
		break;
	case '{': case '[':
		s->depth++;
		break;
	case '}': case ']':
		s->depth--;
		break;
	default:
		break;
	}
	return s->depth > 0 ? STEP_ON : STEP_WHOLE;
}

/* Returns how many bytes belong to the document or its remains. */
static size_t in_document(struct json_stream *s, const char *data, size_t size,
    const struct json_taker *taker, void *state)
{
	size_t i = 0;

	while (i < size) {
		if (s->in_string && !s->escaped)
			i += plain(data + i, size - i);
		if (i == size)
			break;
		switch (inside(s, data[i])) {
		case STEP_ON:
			i++;
			continue;
		case STEP_WHOLE:
			keep(s, data, ++i);
			s->at = STREAM_BETWEEN;
			s->fresh = false;
			give(s, taker, state);
			return i;
		case STEP_BROKEN:
			/* process the byte again: it is a newline, or the beginning of the next
			 * one */
			s->at = STREAM_BETWEEN;
			s->fresh = true;
			if (s->skipping)
				give(s, taker, state);
			return i;
		}
	}
	keep(s, data, i);
	return i;
}

static size_t between(struct json_stream *s, char c)
{
	switch (c) {
	case '\n': case '[': case ',':
		s->fresh = true;
		return 1;
	case ' ': case '\t': case '\r': case ']':
		return 1;
	case '{':
		if (!s->fresh)
			break;
		begin(s);
		return 0;
	default:
		break;
	}
	s->at = STREAM_NOISE;
	return 1;
}

static size_t in_noise(struct json_stream *s, const char *data, size_t size)
{
	const char *lf = memchr(data, '\n', size);

	if (lf == NULL)
		return size;
	s->at = STREAM_BETWEEN;
	return (size_t)(lf - data);
}

void json_stream_feed(struct json_stream *s, const char *data, size_t size, const struct json_taker *taker, void *state)
{
	size_t n = 0;

	for (; size > 0; data += n, size -= n) {
		switch (s->at) {
		case STREAM_BETWEEN:
			n = between(s, *data);
			break;
		case STREAM_NOISE:
			n = in_noise(s, data, size);
			break;
		case STREAM_DOCUMENT:
			n = in_document(s, data, size, taker, state);
			break;
		}
	}
}

void json_stream_gap(struct json_stream *s)
{
	s->at = STREAM_NOISE;
	s->document.size = 0;
}
