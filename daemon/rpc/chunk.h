/* SPDX-License-Identifier: MIT */
/* A stretch of a file or recorded stream of an attempt or step, read off the loop, as an answer. */
#ifndef RPC_CHUNK_H
#define RPC_CHUNK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "rpc/request.h"

#define CHUNK_MAX (128 * 1024)		/* bytes in one answer */

struct chunk_request {
	uv_loop_t *loop;
	const char *state_dir;		/* copied */
	int64_t id;			/* attempt or step */
	int64_t *others;		/* what comes behind it, for recorded streams that are
					 * complete; taken over; NULL: nothing */
	size_t nothers;
	const char *name;		/* of record/layout.h, static */
	const char *key;		/* member that holds the bytes, static */
	bool segments;			/* a recorded stream, not a plain file */
	bool complete;			/* nothing will be added any more */
	int64_t offset, limit;
	json_t *more;			/* members of the answer beside ours, taken
					 * over; NULL: none */
};

/* Answers call with {offset, next, <key>, encoding, eof, dropped, ...more}. */
void chunk_answer(struct call *call, const struct chunk_request *request);

/* data as a JSON string: as it is, when it is text, else in base64. *used: bytes taken; a character
 * that the end cuts in two is left for the next time unless last. */
json_t *chunk_encode(const char *data, size_t size, bool last, size_t *used, const char **encoding);

#endif
