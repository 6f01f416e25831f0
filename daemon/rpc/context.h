/* SPDX-License-Identifier: MIT */
/* What the handlers share. */
#ifndef RPC_CONTEXT_H
#define RPC_CONTEXT_H

#include <sys/queue.h>

#include "rpc/feed.h"
#include "rpc/method.h"
#include "rpc/rpc.h"
#include "rpc/server.h"

#define RPC_PROTOCOL 1		/* version of the methods' meaning, for daemon.hello */

struct blob_put;
struct ended_cache;
struct submit;
struct wait;

struct rpc {
	struct rpc_options options;
	method_tables methods;		/* all of them, for rpc.discover */
	char *state_dir, *version, *instance;
	char **sockets;			/* paths that we listen on */
	struct tally tally;
	struct server *server;
	struct feed *feed;
	uv_timer_t stopper;		/* calls options.stop from the top of the loop */
	bool stop_drain;
	TAILQ_HEAD(, blob_put) blobs;	/* blob_methods.c: the first one is being written */
	LIST_HEAD(, submit) keyed;	/* submit_methods.c: submits with a key that
					 * are under way */
	TAILQ_HEAD(submits, submit) unread;	/* submit_methods.c: submits whose project is still
						 * to be read, in order */
	bool reading;			/* ... and others' are being read */
	LIST_HEAD(, wait) waits;	/* wait_methods.c: run.wait not yet answered */
	struct ended_cache *ended;		/* documents of ended runs that were
						 * asked for lately */
	void (*closed)(void *arg);
	void *closed_arg;
};

extern const struct method daemon_methods[], doctor_methods[], blob_methods[], submit_methods[],
    run_methods[], diff_methods[], wait_methods[], attempt_methods[], review_methods[],
    hold_methods[], group_methods[], cooldown_methods[], salvage_methods[], report_methods[],
    event_methods[];

/* wait_methods.c: a run has changed. */
void waits_changed(struct rpc *rpc, int64_t run);

/* store_read(), counted: the rows come while rpc lives. */
void rpc_read(struct rpc *rpc, const char *statement, enum row_kind kind,
    const struct query_bind *binds, store_rows_cb *cb, void *arg);

/* The settings in force. */
const struct config *rpc_config(const struct rpc *rpc);

#endif
