/* SPDX-License-Identifier: MIT */
/* Answers of the engine to requests. */
#ifndef MODEL_REPLY_H
#define MODEL_REPLY_H

#include <stdint.h>
#include "core/decision.h"

struct run_rows;

/* Called on the loop after every commit, with the event rows of the decision (seq assigned). */
typedef void engine_committed_cb(void *arg, const struct decision *d);

/* The outcome of a changing request. code 0: done, else a code of proto/error.h. */
struct engine_reply {
	int code;
	const char *message;		/* valid during the callback */
	const char *hint;		/* remedy, may be NULL */
	const char *field;		/* parameter at fault, may be NULL */
	int64_t id;			/* id of the run */
	const struct run_rows *rows;	/* the run after the change, NULL on error and for check;
					 * valid during the callback */
};

/* Exactly one reply per request, on the loop, after the commit. */
typedef void engine_reply_cb(void *arg, const struct engine_reply *reply);

#endif
