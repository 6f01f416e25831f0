/* SPDX-License-Identifier: MIT */
/* A client connection: frames in, documents out, bounded both ways. */
#ifndef RPC_CONN_H
#define RPC_CONN_H

#include <stdbool.h>
#include <sys/queue.h>
#include <uv.h>

#include "rpc/server.h"

/* Shared by all connections: their sums, and the queue of those to continue. */
struct pool {
	uv_loop_t *loop;
	server_document_cb *document;
	void *arg;
	TAILQ_HEAD(, conn) conns;
	TAILQ_HEAD(, conn) again;	/* connections with more documents than one turn takes */
	uv_idle_t idle;			/* runs while again is not empty */
	bool squeezed;			/* a connection waits for the sums to fall */
	/* the connection that may complete its frame in that case */
	struct conn *favoured;
	size_t count;
	bool ending;			/* the process will exit soon */
	struct tally *tally;		/* calls not yet answered */
	size_t held_in, held_out;	/* bytes */
	void (*ended)(void *arg);	/* a connection was closed */
	void *ended_arg;
};

/* The caller fills in the rest of the struct, and closes pool->idle after the end. */
void pool_init(struct pool *pool, uv_loop_t *loop);
/* Number of connections of callers like this one. */
size_t pool_count(const struct pool *pool, const struct caller *caller);
/* Close the connection of a caller like this one that has had no call for longest, with an error
 * document of code 5 that says message. idle: only one that has had none for a second, and has none
 * that waits, no subscription and no unread output. Returns false if there is none. */
bool pool_part(struct pool *pool, const struct caller *caller, bool idle, const char *message);
/* The caller with the most connections; admins: also administrators. NULL: there is none. Borrowed
 * of its connection. */
const struct caller *pool_fullest(const struct pool *pool, bool admins);
/* See server_review(). */
void pool_review(struct pool *pool, server_admit_cb *decide);
/* Send what can be sent immediately, then end all connections. Their sockets stay open until the
 * process exits: a client that waits for the end of the daemon must not see it too early. */
void pool_end(struct pool *pool);

/* Takes ownership of fd, which must be non-blocking. */
void conn_new(struct pool *pool, int fd, const struct caller *caller);

#endif
