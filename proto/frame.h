/* SPDX-License-Identifier: MIT */
/* Frames on the socket, for both sides: one compact JSON document per line, or Content-Length
 * header blocks as in LSP. */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#define FRAME_MAX (1024 * 1024)

enum frame_mode { FRAME_UNKNOWN, FRAME_LINE, FRAME_HEADER };

enum frame_result {
	FRAME_NONE,		/* more bytes are needed */
	FRAME_READY,		/* *data, *size: one document, valid until the next call */
	FRAME_TOO_LONG,		/* longer than FRAME_MAX: answer -32700 and close */
	FRAME_BAD_HEADER,	/* malformed header: answer -32700 and close */
	/* the first line is an HTTP request: answer in HTTP and close, because its body may contain
	 * documents */
	FRAME_HTTP
};

struct frame_reader;

/* The first byte selects the mode: 'C' or 'c' is header mode, anything else line mode. A UTF-8 byte
 * order mark before it is skipped. */
struct frame_reader *frame_reader_new(size_t max);
void frame_reader_free(struct frame_reader *r);
void frame_feed(struct frame_reader *r, const void *data, size_t size);
/* Blank lines are skipped in line mode. At the end of the input, call frame_eof() first, so that a
 * last line without LF counts. */
enum frame_result frame_next(struct frame_reader *r, const char **data, size_t *size);
void frame_eof(struct frame_reader *r);
enum frame_mode frame_mode(const struct frame_reader *r);
/* Whether a frame is incomplete, for the server's 10 s limit. */
bool frame_partial(const struct frame_reader *r);

/* Memory used for input, for the server's total. */
size_t frame_held(const struct frame_reader *r);

/* Wrap a document in the given framing: malloc'd, *out_size bytes. FRAME_UNKNOWN counts as
 * FRAME_LINE. */
char *frame_wrap(enum frame_mode mode, const char *json, size_t size, size_t *out_size);

#endif
