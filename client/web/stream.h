/* SPDX-License-Identifier: MIT */
/* Server-sent events: a page is told that it is out of date, never how. So a slow browser has one
 * thing to hear, however much happens. */
#ifndef CLIENT_WEB_STREAM_H
#define CLIENT_WEB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct MHD_Connection;
struct MHD_Response;
struct session;
struct stream;

/* A browser has six connections for a server: the others are for its pages. Beyond it, the oldest
 * stream ends. */
#define STREAMS_OF_SESSION 4

struct streams {
	LIST_HEAD(, stream) all;
	bool there;		/* the daemon */
};

/* run FIELD_NONE: of all. old: the page is out of date already. */
struct MHD_Response *stream_open(struct streams *s, struct MHD_Connection *connection, struct session *session,
    int64_t run, bool old);

/* Something has changed; run FIELD_NONE: about all. there: whether the daemon is. */
void streams_change(struct streams *s, int64_t run, bool there);

/* End those of a session. */
void streams_forget(struct streams *s, const struct session *session);

/* Write a comment to each, so that those whose browser is gone are noticed. */
void streams_ping(struct streams *s);

/* End them all; the server has to run once more. */
void streams_end(struct streams *s);

#endif
