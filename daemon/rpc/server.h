/* SPDX-License-Identifier: MIT */
/* The sockets: who may connect, frames in, documents out, and what each client may make
 * the daemon hold. */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include <uv.h>

#include "rpc/request.h"

struct server;

/* One document has come: its calls are to be begun. */
typedef void server_document_cb(void *arg, struct link *link, const char *data, size_t size);

struct server *server_new(uv_loop_t *loop, struct tally *tally, server_document_cb *document, void *arg);

/* Listen on path, mode 0600. A stale socket is taken over, a live one is an error. 0, or -1 with a
 * sentence in error. */
int server_listen(struct server *server, const char *path, char *error, size_t room);

/* Listen anew at each path at which nothing is any more; what fails is logged, and asked for again
 * by another call. */
void server_listen_again(struct server *server);

size_t server_clients(const struct server *server);

/* Stop listening, remove the sockets, give clients what can be sent at once, close. Frees the
 * server, then closed(). */
void server_close(struct server *server, void (*closed)(void *arg), void *arg);

#endif
