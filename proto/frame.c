/* SPDX-License-Identifier: MIT */
#include "proto/frame.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/memory.h"

#define HEADER_MAX 4096		/* a whole header block */
#define ROOM_KEPT 4096		/* capacity kept by an idle connection */

struct frame_reader {
	size_t max;
	enum frame_mode mode;
	/* TOO_LONG, BAD_HEADER or HTTP: permanent; otherwise FRAME_NONE */
	enum frame_result broken;
	bool greeted;			/* the first line is known not to be HTTP */
	bool eof;
	char *data;
	size_t start, end, room;	/* unread bytes are data[start..end) */
	size_t seen;			/* bytes from start without a newline */
	/* header mode: the header block was read, the body is next */
	bool in_body;
	size_t body;
};

struct frame_reader *frame_reader_new(size_t max)
{
	struct frame_reader *r = xcalloc(1, sizeof(*r));

	r->max = max;
	return r;
}

void frame_reader_free(struct frame_reader *r)
{
	if (r == NULL)
		return;
	free(r->data);
	free(r);
}

enum frame_mode frame_mode(const struct frame_reader *r)
{
	return r->mode;
}

bool frame_partial(const struct frame_reader *r)
{
	return r->end > r->start || r->in_body;
}

size_t frame_held(const struct frame_reader *r)
{
	return r->room;
}

void frame_eof(struct frame_reader *r)
{
	r->eof = true;
}

/* Invalidates the result of frame_next(). */
static void compact(struct frame_reader *r)
{
	if (r->start == 0)
		return;
	memmove(r->data, r->data + r->start, r->end - r->start);
	r->end -= r->start;
	r->start = 0;
}

void frame_feed(struct frame_reader *r, const void *data, size_t size)
{
	if (size == 0 || r->broken != FRAME_NONE)
		return;
	if (r->end + size > r->room) {
		compact(r);
		if (size > SIZE_MAX / 4 - r->end)
			abort();
		if (r->end + size > r->room) {
			r->room = r->end + size > r->room * 2 ? r->end + size : r->room * 2;
			r->data = xreallocarray(r->data, r->room, 1);
		}
	}
	memcpy(r->data + r->end, data, size);
	r->end += size;
}

/* The buffer is empty: shrink it, so that one large frame does not keep memory for ever. */
static enum frame_result none(struct frame_reader *r)
{
	if (r->start == r->end && r->room > ROOM_KEPT) {
		free(r->data);
		r->data = NULL;
		r->start = r->end = r->room = 0;
	}
	return FRAME_NONE;
}

static enum frame_result fail(struct frame_reader *r, enum frame_result why)
{
	r->broken = why;
	free(r->data);
	r->data = NULL;
	r->start = r->end = r->room = r->seen = 0;
	r->in_body = false;
	return why;
}

static bool is_blank(const char *p, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
			return false;
	}
	return true;
}

/* "GET /path HTTP/1.1": a method, a space, a path or the protocol's name. */
static bool is_http(const char *p, size_t size)
{
	static const char method[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	size_t n = 0;

	while (size > 0 && (*p == ' ' || *p == '\t')) {
		p++;
		size--;
	}
	while (n < size && p[n] != '\0' && strchr(method, p[n]) != NULL)
		n++;
	if (n == 0 || n + 1 >= size || p[n] != ' ')
		return false;
	return p[n + 1] == '/' || p[n + 1] == '*' || memmem(p + n, size - n, " HTTP/", 6) != NULL;
}

/* Checks only the first line of the connection. */
static bool greets_in_http(struct frame_reader *r, const char *line, size_t size)
{
	bool first = !r->greeted;

	r->greeted = true;
	return first && is_http(line, size);
}

static enum frame_result next_line(struct frame_reader *r, const char **data, size_t *size)
{
	for (;;) {
		const char *p = r->start < r->end ? r->data + r->start : "";
		size_t have = r->end - r->start;
		const char *lf = have > r->seen ? memchr(p + r->seen, '\n', have - r->seen) : NULL;
		size_t length = lf != NULL ? (size_t)(lf - p) : have;

		if (length > r->max)
			return fail(r, FRAME_TOO_LONG);
		if (lf == NULL && !(r->eof && have > 0)) {
			r->seen = have;
			return none(r);
		}
		r->start += length + (lf != NULL);
		r->seen = 0;
		if (is_blank(p, length))
			continue;
		if (greets_in_http(r, p, length))
			return fail(r, FRAME_HTTP);
		*data = p;
		*size = length;
		return FRAME_READY;
	}
}

/* Value of a Content-Length line; -1: another header; -2: malformed. */
static long long content_length(const char *line, size_t size)
{
	static const char name[] = "Content-Length";
	const char *colon = memchr(line, ':', size);
	long long value = 0;
	size_t i;

	if (colon == NULL || colon == line)
		return -2;
	if ((size_t)(colon - line) != sizeof(name) - 1 || strncasecmp(line, name, sizeof(name) - 1) != 0)
		return -1;
	i = (size_t)(colon - line) + 1;
	while (i < size && (line[i] == ' ' || line[i] == '\t'))
		i++;
	while (size > i && (line[size - 1] == ' ' || line[size - 1] == '\t'))
		size--;
	if (i == size || size - i > 15)
		return -2;
	for (; i < size; i++) {
		if (line[i] < '0' || line[i] > '9')
			return -2;
		value = value * 10 + (line[i] - '0');
	}
	return value;
}

/* Read a header line: FRAME_READY at the blank line that ends the block. */
static enum frame_result next_header(struct frame_reader *r, size_t *used, long long *length)
{
	const char *p = r->data + r->start + *used;
	size_t have = r->end - r->start - *used;
	const char *lf = have > 0 ? memchr(p, '\n', have) : NULL;
	size_t size;
	long long value;

	if (lf == NULL)
		return *used + have > HEADER_MAX || r->eof ? FRAME_BAD_HEADER : FRAME_NONE;
	size = (size_t)(lf - p);
	*used += size + 1;
	if (*used > HEADER_MAX)
		return FRAME_BAD_HEADER;
	if (size > 0 && p[size - 1] == '\r')
		size--;
	if (size == 0)
		return *length < 0 ? FRAME_BAD_HEADER : FRAME_READY;
	value = content_length(p, size);
	if (value == -2 || (value >= 0 && *length >= 0))
		return FRAME_BAD_HEADER;	/* two lengths are ambiguous */
	if (value >= 0)
		*length = value;
	return FRAME_NONE;
}

static enum frame_result next_block(struct frame_reader *r, const char **data, size_t *size)
{
	if (!r->in_body) {
		long long length = -1;
		size_t used = 0, before;
		enum frame_result rv = FRAME_NONE;
		const char *lf;

		if (r->start == r->end)
			return none(r);
		lf = memchr(r->data + r->start, '\n', r->end - r->start);
		if (lf != NULL && greets_in_http(r, r->data + r->start, (size_t)(lf - r->data) - r->start))
			return fail(r, FRAME_HTTP);
		do {
			before = used;
			rv = next_header(r, &used, &length);
		} while (rv == FRAME_NONE && used > before);
		if (rv == FRAME_BAD_HEADER)
			return fail(r, FRAME_BAD_HEADER);
		if (rv == FRAME_NONE)
			return FRAME_NONE;
		if ((unsigned long long)length > r->max)
			return fail(r, FRAME_TOO_LONG);
		r->start += used;
		r->in_body = true;
		r->body = (size_t)length;
	}
	if (r->end - r->start < r->body)
		return r->eof ? fail(r, FRAME_BAD_HEADER) : FRAME_NONE;
	*data = r->body > 0 ? r->data + r->start : "";
	*size = r->body;
	r->start += r->body;
	r->in_body = false;
	return FRAME_READY;
}

/* The first byte after an optional byte order mark selects the mode: wait until it is there. */
static void choose_mode(struct frame_reader *r)
{
	static const char mark[] = { '\xef', '\xbb', '\xbf' };
	size_t have = r->end - r->start;
	bool marked = have > 0 && memcmp(r->data + r->start, mark, have < sizeof(mark) ? have : sizeof(mark)) == 0;

	if ((have == 0 || (marked && have <= sizeof(mark))) && !r->eof)
		return;
	if (marked && have >= sizeof(mark))
		r->start += sizeof(mark);
	r->mode = r->start < r->end && (r->data[r->start] == 'C' || r->data[r->start] == 'c')
	    ? FRAME_HEADER
	    : FRAME_LINE;
}

enum frame_result frame_next(struct frame_reader *r, const char **data, size_t *size)
{
	if (r->broken != FRAME_NONE)
		return r->broken;
	if (r->mode == FRAME_UNKNOWN)
		choose_mode(r);
	switch (r->mode) {
	case FRAME_UNKNOWN:
		return FRAME_NONE;
	case FRAME_LINE:
		return next_line(r, data, size);
	case FRAME_HEADER:
		return next_block(r, data, size);
	}
	abort();
}

char *frame_wrap(enum frame_mode mode, const char *json, size_t size, size_t *out_size)
{
	char head[64] = "";
	size_t n = 0;
	char *out;

	if (mode == FRAME_HEADER)
		n = (size_t)snprintf(head, sizeof(head), "Content-Length: %zu\r\n\r\n", size);
	out = xmalloc(n + size + 2);
	memcpy(out, head, n);
	memcpy(out + n, json, size);
	n += size;
	if (mode != FRAME_HEADER)
		out[n++] = '\n';
	out[n] = '\0';
	*out_size = n;
	return out;
}
