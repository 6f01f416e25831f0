/* SPDX-License-Identifier: MIT */
/* The HTTP server, which runs in the loop of its user. */
#ifndef CLIENT_WEB_WEB_SERVER_H
#define CLIENT_WEB_WEB_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/web/daemon_link.h"
#include "client/web/session.h"
#include "client/web/stream.h"

struct MHD_Daemon;

#define CONNECTIONS_MAX 200

struct server {
	struct MHD_Daemon *http;
	in_port_t port;
	struct daemon_link *link;
	struct sessions sessions;
	struct streams streams;
	bool told;		/* that another user was refused */
};

/* Listen at 127.0.0.1; port 0: a free one. Returns 0 or -errno. */
int server_start(struct server *s, in_port_t port, struct daemon_link *link);
/* End all connections. */
void server_stop(struct server *s);

/* For poll(); and how long it may wait, -1: for ever. */
int server_fd(const struct server *s);
int server_wait(const struct server *s);

/* Do what can be done without waiting. */
void server_run(struct server *s);

/* The address that opens a session, once; the caller frees. */
char *server_address(const struct server *s);

#endif
