/* SPDX-License-Identifier: MIT */
/* The connection to the daemon: calls, and the events of all runs. It is made again when the daemon
 * comes back. */
#ifndef CLIENT_WEB_DAEMON_LINK_H
#define CLIENT_WEB_DAEMON_LINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"
#include "proto/call.h"

struct daemon_link {
	struct client *client;		/* its connection is used; none: the daemon is gone */
	char *instance;			/* of the daemon: one with another database is not ours */
	bool other;			/* such a one has answered, which was told */
	int end, limit, wait;		/* signals that end rlctl; a timer; an epoll of both */
	int64_t seq;			/* of the newest event that was seen */
	int64_t tried;			/* when a connection was last tried */
	/* run FIELD_NONE: something about all of them */
	void (*changed)(void *arg, int64_t run);
	void *arg;
};

/* Connect. end: a descriptor that becomes readable when rlctl has to end: no call waits any longer
 * then. Returns 0, or an exit code after a message. */
int link_init(struct daemon_link *l, struct client *client, int end);
void link_release(struct daemon_link *l);

bool link_is_there(const struct daemon_link *l);
/* For poll(); -1 while the daemon is gone. */
int link_fd(const struct daemon_link *l);

/* Take the events that have come, notice that the daemon is gone, or try to reach it again.
 * Returns the time until the next try, -1: none is needed. */
int link_work(struct daemon_link *l);

/* From here on, the calls of a request may take LINK_LIMIT_S together. */
#define LINK_LIMIT_S 30
void link_limit(struct daemon_link *l);

/* Call a method once; takes ownership of params. NULL with error; error->code 0: the daemon is
 * gone, and the call may have been carried out. */
json_t *link_call(struct daemon_link *l, const char *method, json_t *params, struct call_error *error);
/* All that the page of a run shows, as gather.h describes. */
json_t *link_run(struct daemon_link *l, int64_t run, struct call_error *error);

#endif
