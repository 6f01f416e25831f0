/* SPDX-License-Identifier: MIT */
/* A connection to the daemon of another machine: ssh runs "rlctl relay" there, which connects its
 * standard input and output to the daemon. */
#ifndef CLIENT_HOST_CONNECTION_H
#define CLIENT_HOST_CONNECTION_H

#include <jansson.h>
#include <stdbool.h>

struct call_conn;
struct host;

/* Run command there, connect and greet. quiet: without messages, and ssh asks for nothing. Returns
 * 0 with the connection and the reply to daemon.hello, owned by the caller, or an exit code. */
int host_connect(const struct host *host, const char *command, bool quiet, struct call_conn **conn,
    json_t **hello);

#endif
