/* SPDX-License-Identifier: MIT */
/* The sockets: who may connect, frames in, documents out, and limits per client. */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include <uv.h>

#include "rpc/request.h"

struct server;

/* A document has arrived: start its calls. */
typedef void server_document_cb(void *arg, struct link *link, const char *data, size_t size);

/* Fill in the rest of a caller whose peer is known. Returns NULL, or why it may not connect,
 * malloc'd. */
typedef char *server_admit_cb(void *arg, struct caller *caller);

struct server *server_new(uv_loop_t *loop, struct tally *tally, server_document_cb *document,
    server_admit_cb *admit, void *arg);

/* Listen on path, with mode 0600 unless the server is open. A stale socket is replaced, a live one
 * is an error. inherited: a socket that listens there already, or negative. Returns 0, or -1 with a
 * sentence in error. */
int server_listen(struct server *server, const char *path, int inherited, char *error, size_t room);

/* Without a server: answer the clients that wait at an inherited socket with this error. */
void server_refuse_waiting(int inherited, const char *message);

/* Listen again at each path whose socket was removed; failures are logged, and another call tries
 * again. */
void server_listen_again(struct server *server);

/* Whether other users can connect, so that they are at least told why they may not: then the
 * sockets have mode 0666. At first they cannot. */
void server_set_open(struct server *server, bool open);

/* Who may connect has changed: set the rank of each connection again by decide, and close those
 * that it refuses. */
void server_review(struct server *server, server_admit_cb *decide);

size_t server_clients(const struct server *server);

/* Stop listening, remove the sockets, send clients what can be sent immediately, and end their
 * connections, which close when the process exits. Frees the server, then calls closed(). */
void server_close(struct server *server, void (*closed)(void *arg), void *arg);

#endif
