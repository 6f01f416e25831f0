/* SPDX-License-Identifier: MIT */
/* One client's connection: frames in, documents out, bounded both ways. */
#ifndef RPC_CONN_H
#define RPC_CONN_H

#include <stdbool.h>
#include <sys/queue.h>
#include <uv.h>

#include "rpc/server.h"

/* What all connections share: sums over them, and the list of those to be looked at again. */
struct pool {
	uv_loop_t *loop;
	server_document_cb *document;
	void *arg;
	TAILQ_HEAD(, conn) conns;
	TAILQ_HEAD(, conn) again;	/* connections with more documents than one turn takes */
	uv_idle_t idle;			/* runs while again is not empty */
	bool squeezed;			/* a connection waits for the sums to fall */
	struct conn *favoured;		/* the one that may finish its frame meanwhile */
	size_t count;
	struct tally *tally;		/* calls not yet answered */
	size_t held_in, held_out;	/* bytes */
	void (*ended)(void *arg);	/* a connection is gone */
	void *ended_arg;
};

/* The rest of the struct is the caller's to fill in. The caller closes pool->idle
 * when it has ended. */
void pool_init(struct pool *pool, uv_loop_t *loop);
size_t pool_of_uid(const struct pool *pool, uid_t uid);
/* Send what can be sent at once, then close all. */
void pool_end(struct pool *pool);

/* Takes fd, which must not block. */
void conn_new(struct pool *pool, int fd, uid_t uid);

#endif
