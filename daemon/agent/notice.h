/* SPDX-License-Identifier: MIT */
/* Refusals that a program reports while it repeats its requests: they show a limit before the
 * program gives up, which may take hours. */
#ifndef AGENT_NOTICE_H
#define AGENT_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/reset.h"
#include "core/plan.h"
#include "core/state.h"

struct notice {
	int64_t tries;			/* consecutive refusals since the last progress */
	int64_t since;			/* TIME when the first of them was read */
	/* The last refusal, even if there was progress after it. */
	enum provider_result provider;	/* LIMIT, THROTTLED or AUTH; NONE: there was none */
	/* TIME when the service is available again; ROW_NONE: unknown */
	int64_t reset_at;
	char *words;			/* owned, one line; NULL: none */
};

enum notice_stream { NOTICE_STDOUT, NOTICE_STDERR, NOTICE_STREAMS };

void notice_init(struct notice *n);
void notice_release(struct notice *n);

/* Whether programs of this kind report their retries. */
bool notice_can_tell(enum reader_kind kind);

/* Read whole lines of one of its streams, in order. Reads the tz database. */
void notice_read(struct notice *n, enum reader_kind kind, enum notice_stream stream,
    const char *data, size_t size, const struct reset_place *place);

/* PROVIDER_LIMIT or PROVIDER_AUTH: the program waits for nothing that will come soon, and should be
 * ended; PROVIDER_NONE: let it try. */
enum provider_result notice_decide(const struct notice *n, int64_t now);

#endif
