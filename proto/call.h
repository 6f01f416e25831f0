/* SPDX-License-Identifier: MIT */
/* A client's connection: blocking calls, and a stream of notifications. */
#ifndef PROTO_CALL_H
#define PROTO_CALL_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

struct call_conn;

/* The users whose daemon may see what is sent to it. */
struct call_trust {
	uid_t uids[4];
	size_t count;
};

/* Connect in line framing. Nothing is sent before the peer's uid is known and in trust. -errno on
 * failure; -EPERM: the daemon there belongs to *peer, which is not in trust. */
int call_connect(const char *socket_path, const struct call_trust *trust, struct call_conn **out, uid_t *peer);
void call_close(struct call_conn *conn);
int call_fd(const struct call_conn *conn);

/* While fd is readable, calls that have to wait for their reply fail at once, and the connection is
 * of no more use. -1: none does. */
void call_give_up_on(struct call_conn *conn, int fd);

/* What an error reply said. */
struct call_error {
	int code;		/* 0: the connection failed, message says how */
	char message[1024];
	char kind[32];
	char hint[512];
	char field[64];
};

/* Call method; params is consumed (NULL: none). Returns the result (caller decrefs) or NULL with
 * error. Notifications that arrive meanwhile are kept for call_notification(). */
json_t *call_method(struct call_conn *conn, const char *method, json_t *params, struct call_error *error);

/* Wait at most timeout_ms (-1: for ever) for a notification; *params is the caller's to
 * decref, *method is in it as "method". 1: got one; 0: timeout; -1: connection closed; -2:
 * interrupted by a signal. */
int call_notification(struct call_conn *conn, int timeout_ms, json_t **message);

#endif
