/* SPDX-License-Identifier: MIT */
/* Finding the daemon: the socket that was named, or the user's, or the system's, or one started
 * for the purpose. */
#ifndef CLIENT_CONNECT_H
#define CLIENT_CONNECT_H

#include <jansson.h>
#include <stdbool.h>

#define CONNECT_PROTOCOL 1

struct call_conn;
struct call_trust;

enum connect_start {
	CONNECT_START_NEVER,
	CONNECT_START_DEMAND,	/* when none answers, unless the user is root or the host has
				 * a system's daemon */
	CONNECT_START_ASKED	/* when none answers */
};

/* named: the only socket to try, NULL to search; only a search starts a daemon. Daemons of
 * users that are not in trust get nothing from us. 0 with the connection, the daemon's
 * reply to daemon.hello and the path of the socket (malloc'd), all the caller's; or an exit
 * code after telling. */
int connect_daemon(const char *named, enum connect_start start, const struct call_trust *trust,
    struct call_conn **conn, json_t **hello, char **path);

/* The same for a daemon that was there before: one quick try, without a word. */
bool connect_again(const char *path, const struct call_trust *trust, struct call_conn **conn, json_t **hello);

#endif
