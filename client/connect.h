/* SPDX-License-Identifier: MIT */
/* Find the daemon: at the given socket, the user's, the system's, or one started on demand. */
#ifndef CLIENT_CONNECT_H
#define CLIENT_CONNECT_H

#include <jansson.h>
#include <stdbool.h>

#define CONNECT_PROTOCOL 1

struct call_conn;
struct call_trust;
struct host;

enum connect_start {
	CONNECT_START_NEVER,
	/* if none answers, unless the user is root or the host has a system daemon */
	CONNECT_START_DEMAND,
	CONNECT_START_ASKED	/* if none answers */
};

/* named: the only socket to try, NULL to search; only a search starts a daemon. Nothing is sent to
 * daemons of users that are not in trust. Returns 0 with the connection, the reply to daemon.hello
 * and the path of the socket (malloc'd), all owned by the caller; or an exit code after a
 * message. */
int connect_daemon(const char *named, enum connect_start start, const struct call_trust *trust,
    struct call_conn **conn, json_t **hello, char **path);

/* Reconnect to a known daemon: one quick try, without messages. host: of another machine, NULL: at
 * path. give_up: as of call_give_up_on(), also for the connection at path. */
bool connect_again(const struct host *host, const char *path, const struct call_trust *trust, int give_up,
    struct call_conn **conn, json_t **hello);

/* The same for the first socket of a search, or the named one. *path as for connect_daemon(). */
bool connect_running(const char *named, const struct call_trust *trust, struct call_conn **conn, json_t **hello,
    char **path);

/* Whether a daemon is started only for --start: as root, or where the host has a system daemon. */
bool connect_needs_start(void);

#endif
