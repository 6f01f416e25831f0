/* SPDX-License-Identifier: MIT */
/* A client connection: blocking calls, and a stream of notifications. */
#ifndef PROTO_CALL_H
#define PROTO_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct call_conn;

/* Users whose daemons are trusted. */
struct call_trust {
	uid_t uids[4];
	size_t count;
};

/* Connect in line framing. Nothing is sent before the peer's user is known and trusted. -errno on
 * failure; -EPERM: the daemon runs as *peer, who is not in trust. */
int call_connect(const char *socket_path, const struct call_trust *trust, struct call_conn **out, uid_t *peer);
/* The same over a connected stream socket, which call_close() closes. */
struct call_conn *call_over(int fd);
void call_close(struct call_conn *conn);
int call_fd(const struct call_conn *conn);

/* Process ID of the daemon when it began to listen; 0: unknown. */
pid_t call_pid(const struct call_conn *conn);

/* How long a call, or a wait for a notification, goes without a sign of life, in ms. Halfway to
 * tell_ms the daemon is asked for one, so that what takes long is no silence; tell is called once
 * per silence. limit_ms 0: none. Copied. */
struct call_patience {
	int64_t tell_ms, limit_ms;
	void (*tell)(void *arg);
	void *arg;
};
void call_set_patience(struct call_conn *conn, const struct call_patience *patience);

/* While fd is readable, calls that would have to wait fail; their replies are skipped when they
 * come. -1: none. */
void call_give_up_on(struct call_conn *conn, int fd);

/* Content of an error reply. */
struct call_error {
	int code;		/* 0: the connection failed, see message */
	char message[1024];
	char kind[32];
	char hint[512];
	char field[64];
	bool retryable;
	bool silent;		/* the connection failed because the limit of patience is over */
};

/* Call method; takes ownership of params (NULL: none). Returns the result (caller decrefs) or NULL
 * with error. Notifications that arrive meanwhile are queued for call_notification(). */
json_t *call_method(struct call_conn *conn, const char *method, json_t *params, struct call_error *error);

/* The same for a list: all its pages as one result, whose member called rows is the whole list. */
json_t *call_pages(struct call_conn *conn, const char *method, const char *rows, json_t *params,
    struct call_error *error);

/* Wait at most timeout_ms (-1: no limit) for a notification; the caller decrefs *message, which
 * contains "method". 1: got one; 0: timeout; -1: connection closed; -2: interrupted by a signal. */
int call_notification(struct call_conn *conn, int timeout_ms, json_t **message);

/* Wait at most timeout_ms (-1: no limit) until something has arrived, fd (-1: none) is readable, or
 * the connection has failed, as call_notification() then says. Returns whether fd is readable. */
bool call_listen(struct call_conn *conn, int fd, int timeout_ms);

#endif
