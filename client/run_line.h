/* SPDX-License-Identifier: MIT */
/* What a run does at the moment, as one line for a terminal: phase, round, time, the last words or
 * tool of an agent, tokens and cost. */
#ifndef CLIENT_RUN_LINE_H
#define CLIENT_RUN_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/lines.h"
#include "proto/call.h"

struct run_line {
	int64_t run;
	json_t *document;	/* run.get; NULL: none yet */
	json_t *preview;	/* attempt.preview of the slot that is shown; NULL: none */
	bool stale;		/* an event has arrived since the document was read */
	int64_t loaded;		/* monotonic; 0: never */
};

/* Ask for what is out of date. A failure leaves what was known. */
void run_line_load(struct run_line *p, struct call_conn *conn);
/* Time until the next run_line_load(), as a timeout for poll(). */
int run_line_due_ms(const struct run_line *p);
/* One line; nothing before the first document. now: wall clock. */
void run_line_put(struct lines *l, const json_t *run, const json_t *preview, int64_t now);
void run_line_release(struct run_line *p);

#endif
