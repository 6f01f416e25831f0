/* SPDX-License-Identifier: MIT */
/* The output of an attempt as a conversation, printed as it grows. */
#ifndef CLIENT_TRANSCRIPT_H
#define CLIENT_TRANSCRIPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/print.h"
#include "proto/memory.h"

/* Zeroed: nothing printed yet. */
struct transcript {
	int64_t next;		/* offset to continue with */
	bool open;		/* the last line has no end yet */
	bool any;		/* something was printed */
	bool piece;		/* the last item was one: the next piece continues it */
	bool text;		/* the output is the answer itself */
	struct buf said;	/* the last words, to know an answer that repeats them */
};

/* Print a page of attempt.transcript. */
void transcript_print(struct transcript *t, const struct print *p, const json_t *page);
/* End an open line, if there is one. */
void transcript_close(struct transcript *t, const struct print *p);
/* At the end: the answer, unless it has just been said, and what the attempt took. answer NULL:
 * none. attempt: as in attempt.get. */
void transcript_end(struct transcript *t, const struct print *p, const char *answer, const json_t *attempt);
void transcript_release(struct transcript *t);

#endif
