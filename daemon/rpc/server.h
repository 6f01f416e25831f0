/* SPDX-License-Identifier: MIT */
/* The sockets: who may connect, frames in, documents out, and limits per client. */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include <uv.h>

#include "rpc/request.h"

struct server;

/* A document has arrived: start its calls. */
typedef void server_document_cb(void *arg, struct link *link, const char *data, size_t size);

/* Fill in the caller, who has uid and pid. False: it cannot be told who that is. */
typedef bool server_identify_cb(void *arg, struct caller *caller);

struct server *server_new(uv_loop_t *loop, struct tally *tally, server_document_cb *document,
    server_identify_cb *identify, void *arg);

/* Listen on path with mode 0600. A stale socket is replaced, a live one is an error. Returns 0, or
 * -1 with a sentence in error. */
int server_listen(struct server *server, const char *path, char *error, size_t room);

/* Listen again at each path whose socket was removed; failures are logged, and another call tries
 * again. */
void server_listen_again(struct server *server);

size_t server_clients(const struct server *server);

/* Stop listening, remove the sockets, send clients what can be sent immediately, and close. Frees
 * the server, then calls closed(). */
void server_close(struct server *server, void (*closed)(void *arg), void *arg);

#endif
