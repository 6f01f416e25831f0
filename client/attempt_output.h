/* SPDX-License-Identifier: MIT */
/* What an attempt wrote, page by page. */
#ifndef CLIENT_ATTEMPT_OUTPUT_H
#define CLIENT_ATTEMPT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"
#include "proto/memory.h"

struct output_page {
	struct buf bytes;
	int64_t next;		/* offset to go on from */
	int64_t dropped;	/* bytes before this page that were not kept */
	bool eof;		/* nothing will follow */
	json_t *result;		/* as it came */
};

/* Append the member key of a result, in base64 where its "encoding" says so. 0, or -1
 * when it is none. */
int output_add(struct buf *b, const json_t *result, const char *key);

/* 0 or an exit code after telling; on 0 output_release() frees what the page holds. */
int output_read(struct client *c, int64_t attempt, const char *stream, int64_t offset, struct output_page *page);
void output_release(struct output_page *page);

/* Print a stream from *offset to where it ends for now, and move *offset there. *eof:
 * nothing will follow. */
int output_print(struct client *c, const struct print *to, int64_t attempt, const char *stream,
    int64_t *offset, bool *eof);

#endif
