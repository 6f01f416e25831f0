/* SPDX-License-Identifier: MIT */
/* Finding the daemon: the socket that was named, or the user's, or the system's, or one started for the purpose. */
#ifndef CLIENT_CONNECT_H
#define CLIENT_CONNECT_H

#include <jansson.h>
#include <stdbool.h>

struct call_conn;

/* named: the only socket to try, NULL to search. 0 with the connection and the daemon's reply to daemon.hello, both
 * the caller's; or an exit code after telling. */
int connect_daemon(const char *named, bool may_start, struct call_conn **conn, json_t **hello);

#endif
