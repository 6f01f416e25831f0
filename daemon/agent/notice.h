/* SPDX-License-Identifier: MIT */
/* Refusals that a program reports while it asks its service again and again: known from them before
 * the program gives up, which some do only after hours. */
#ifndef AGENT_NOTICE_H
#define AGENT_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/reset.h"
#include "core/plan.h"
#include "core/state.h"

struct notice {
	int64_t tries;			/* refusals in a row since the work last went on */
	int64_t since;			/* TIME at which the first of them was read */
	/* The last refusal of all, also when the work has gone on since. */
	enum provider_result provider;	/* LIMIT, THROTTLED or AUTH; NONE: there was none */
	int64_t reset_at;		/* TIME at which the service serves again;
					 * ROW_NONE: it does not say */
	char *words;			/* owned, one line; NULL: none */
};

enum notice_stream { NOTICE_STDOUT, NOTICE_STDERR, NOTICE_STREAMS };

void notice_init(struct notice *n);
void notice_release(struct notice *n);

/* Does a program of this kind report its retries? */
bool notice_can_tell(enum reader_kind kind);

/* Read whole lines of one of its streams, in order. Reads the tz database. */
void notice_read(struct notice *n, enum reader_kind kind, enum notice_stream stream,
    const char *data, size_t size, const struct reset_place *place);

/* PROVIDER_LIMIT or PROVIDER_AUTH: the program waits for nothing that comes soon, and is to be
 * ended for that; PROVIDER_NONE: let it try. */
enum provider_result notice_decide(const struct notice *n, int64_t now);

#endif
