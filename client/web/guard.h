/* SPDX-License-Identifier: MIT */
/* What a request must bring before anything is done for it. Pure. */
#ifndef CLIENT_WEB_GUARD_H
#define CLIENT_WEB_GUARD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#define BODY_MAX (64 * 1024)

/* Of its head; a text is NULL where the header is missing. */
struct guard_head {
	in_port_t port;		/* of the server */
	bool post;
	const char *host, *origin, *type, *length, *encoding;
};

/* A reason to refuse. */
struct guard_reason {
	unsigned status;	/* of HTTP */
	const char *message;	/* a sentence */
};

/* NULL: nothing is wrong. */
const struct guard_reason *guard_check(const struct guard_head *head);

#endif
