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
	struct tally *tally;		/* calls not yet answered */
	size_t held_in, held_out;	/* bytes */
	void (*ended)(void *arg);	/* a connection was closed */
	void *ended_arg;
};

/* The caller fills in the rest of the struct, and closes pool->idle after the end. */
void pool_init(struct pool *pool, uv_loop_t *loop);
size_t pool_of_uid(const struct pool *pool, uid_t uid);
/* Close the connection of this uid that has been idle longest, with an error document of code 5
 * that says message. Idle: it has had no call for a second, and has none that waits, no
 * subscription and no unread output. Returns false if there is none. */
bool pool_part_idle(struct pool *pool, uid_t uid, const char *message);
/* The user with the most connections. */
uid_t pool_fullest_uid(const struct pool *pool);
/* See server_review(). */
void pool_review(struct pool *pool, server_admit_cb *decide);
/* Send what can be sent immediately, then close all connections. */
void pool_end(struct pool *pool);

/* Takes ownership of fd, which must be non-blocking. */
void conn_new(struct pool *pool, int fd, const struct caller *caller);

#endif
