/* SPDX-License-Identifier: MIT */
/* Part of a file or recorded stream of an attempt or step, read off the loop, as an answer. */
#ifndef RPC_CHUNK_H
#define RPC_CHUNK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "rpc/request.h"

#define CHUNK_MAX (128 * 1024)		/* maximum number of bytes per answer */

struct rpc;

struct chunk_request {
	uv_loop_t *loop;
	const char *state_dir;		/* copied */
	int64_t id;			/* attempt or step */
	/* records that follow, for complete recorded streams; takes ownership; NULL: none */
	int64_t *others;
	size_t nothers;
	const char *name;		/* file name from record/layout.h, static */
	const char *key;		/* member for the bytes, static */
	bool segments;			/* a recorded stream, not a plain file */
	bool complete;			/* nothing will be appended any more */
	int64_t offset, limit;
	/* additional members of the answer, takes ownership; NULL: none */
	json_t *more;
	/* the hint if the record was removed, takes ownership; NULL: a general one */
	char *gone;
	/* of an attempt: asked for its run if there is no record; NULL: it is not asked */
	struct rpc *rpc;
	int64_t run;
	/* Called before the answer; empty: there is nothing at offset, and more may come. Returns
	 * whether to leave the call unanswered. NULL: none. */
	bool (*hold_back)(void *arg, bool empty);
	void *arg;
};

/* Answers call with {offset, next, <key>, encoding, eof, dropped, ...more}. */
void chunk_answer(struct call *call, const struct chunk_request *request);

/* data as a JSON string: unchanged if it is text, otherwise as base64. *used: bytes consumed; a
 * character cut by the end is left for the next call unless last. */
json_t *chunk_encode(const char *data, size_t size, bool last, size_t *used, const char **encoding);

#endif
