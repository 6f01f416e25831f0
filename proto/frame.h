/* SPDX-License-Identifier: MIT */
/* Frames on the socket, both sides: one compact JSON document a line, or Content-Length header
 * blocks as in LSP. */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#define FRAME_MAX (1024 * 1024)

enum frame_mode { FRAME_UNKNOWN, FRAME_LINE, FRAME_HEADER };

enum frame_result {
	FRAME_NONE,		/* more bytes are needed */
	FRAME_READY,		/* *data, *size: one document, valid until the next call */
	FRAME_TOO_LONG,		/* beyond FRAME_MAX: answer -32700 and close */
	FRAME_BAD_HEADER,	/* header framing broken: answer -32700 and close */
	FRAME_HTTP		/* the first line is an HTTP request: answer in kind and close, for
				 * its body may hold documents */
};

struct frame_reader;

/* Mode is chosen by the first byte: 'C' or 'c' is header, anything else line. A UTF-8 byte order
 * mark before it is passed over. */
struct frame_reader *frame_reader_new(size_t max);
void frame_reader_free(struct frame_reader *r);
void frame_feed(struct frame_reader *r, const void *data, size_t size);
/* Blank lines are passed over in line mode. At end of input a last line without LF counts: call
 * frame_eof() first. */
enum frame_result frame_next(struct frame_reader *r, const char **data, size_t *size);
void frame_eof(struct frame_reader *r);
enum frame_mode frame_mode(const struct frame_reader *r);
/* True while a started frame is incomplete: the server's 10 s clock. */
bool frame_partial(const struct frame_reader *r);

/* Memory held for input, for the server's sum over all clients. */
size_t frame_held(const struct frame_reader *r);

/* Put a document into the given framing: malloc'd, *out_size bytes. FRAME_UNKNOWN
 * counts as FRAME_LINE. */
char *frame_wrap(enum frame_mode mode, const char *json, size_t size, size_t *out_size);

#endif
