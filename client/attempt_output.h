/* SPDX-License-Identifier: MIT */
/* Output of an attempt, page by page. */
#ifndef CLIENT_ATTEMPT_OUTPUT_H
#define CLIENT_ATTEMPT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"
#include "proto/memory.h"

struct output_page {
	struct buf bytes;
	int64_t next;		/* offset to continue with */
	int64_t dropped;	/* bytes missing before this page */
	bool eof;		/* this is the end */
	json_t *result;		/* the daemon's result */
};

/* Append the member key of a result, decoded from base64 if its "encoding" says so. Returns 0, or
 * -1 if it is invalid. */
int output_add(struct buf *b, const json_t *result, const char *key);

/* Returns 0, and output_release() frees the page; or an exit code, after a message. */
int output_read(struct client *c, int64_t attempt, const char *stream, int64_t offset, struct output_page *page);
void output_release(struct output_page *page);

/* How far a stream was printed. */
struct output_place {
	int64_t offset;		/* to continue with */
	bool eof;		/* the stream is complete */
	bool open;		/* the last line has no end */
};

/* Print a stream from its place to its current end. Returns 0, or an exit code after a message. */
int output_print(struct client *c, const struct print *to, int64_t attempt, const char *stream,
    struct output_place *place);

#endif
