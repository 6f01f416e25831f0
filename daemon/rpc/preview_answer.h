/* SPDX-License-Identifier: MIT */
/* An attempt's output as interpreted by its reader, its last lines or a part of it, read off the
 * loop, as an answer. */
#ifndef RPC_PREVIEW_ANSWER_H
#define RPC_PREVIEW_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "core/plan.h"
#include "job/secrets.h"
#include "rpc/request.h"

struct preview_request {
	uv_loop_t *loop;
	const char *state_dir;		/* copied */
	int64_t id;			/* of the attempt */
	enum reader_kind reader;
	struct secrets secrets;		/* of its run; takes ownership */
	size_t lines;			/* for preview_answer() */
	int64_t offset;			/* for transcript_answer() ... */
	bool complete;			/* ... nothing will be appended any more */
};

/* Answers call with {lines, updated_at}. */
void preview_answer(struct call *call, const struct preview_request *request);
/* Answers call with {reader, items, offset, next, eof, dropped}. */
void transcript_answer(struct call *call, const struct preview_request *request);

#endif
