/* SPDX-License-Identifier: MIT */
/* State shared by the handlers. */
#ifndef RPC_CONTEXT_H
#define RPC_CONTEXT_H

#include <sys/queue.h>

#include "rpc/counters.h"
#include "rpc/feed.h"
#include "rpc/method.h"
#include "rpc/refusals.h"
#include "rpc/roles.h"
#include "rpc/rpc.h"
#include "rpc/server.h"

#define RPC_PROTOCOL 1		/* version of the protocol, for daemon.hello */

struct blob_put;
struct ended_cache;
struct submit;
struct output_wait;
struct wait;

/* Calls of one connection that may wait at a time. */
#define WAITS_OF_LINK 16

struct rpc {
	struct rpc_options options;
	method_tables methods;		/* for rpc.discover */
	json_t *capabilities;		/* for daemon.hello */
	char *state_dir, *version, *instance;
	char **sockets;			/* paths of the listening sockets */
	struct tally tally;
	struct server *server;
	struct feed *feed;
	uv_timer_t stopper;		/* calls options.stop from the top of the loop */
	bool stop_drain;
	TAILQ_HEAD(, blob_put) blobs;	/* blob_methods.c: the first one is being written */
	LIST_HEAD(, submit) keyed;	/* submit_methods.c: submits with a key in progress */
	/* submit_methods.c: submits whose project settings are to be read, in order */
	TAILQ_HEAD(submits, submit) unread;
	bool reading;			/* those of earlier submits are being read */
	LIST_HEAD(, wait) waits;	/* wait_methods.c: unanswered run.wait calls */
	LIST_HEAD(, output_wait) outputs;	/* output_wait.c: calls that wait for output */
	uv_fs_event_t first_watch;	/* output_wait.c */
	struct ended_cache *ended;		/* recently requested documents of ended runs */
	struct roles roles;
	uint64_t roles_asked;		/* roles.c: number of the last look-up */
	uint64_t roles_at;		/* ... and its time, ms of the loop */
	struct refusals refusals;
	struct counters counters;
	void (*closed)(void *arg);
	void *closed_arg;
};

extern const struct method daemon_methods[], backup_methods[], metrics_methods[], doctor_methods[],
    blob_methods[], submit_methods[], run_methods[], retry_methods[], change_methods[], diff_methods[],
    wait_methods[], attempt_methods[], review_methods[], finding_methods[], evidence_methods[],
    attest_methods[], hold_methods[], group_methods[], cooldown_methods[], salvage_methods[], report_methods[],
    event_methods[], prompt_methods[], prune_methods[];

/* daemon_methods.c: number of unfinished runs by state. */
json_t *run_counts(struct rpc *rpc);
/* wait_methods.c: a run has changed. */
void waits_changed(struct rpc *rpc, int64_t run);

/* store_read(), counted, so that rpc outlives the callback. */
void rpc_read(struct rpc *rpc, const char *statement, enum row_kind kind,
    const struct query_bind *binds, store_rows_cb *cb, void *arg);

/* The current settings. */
const struct config *rpc_config(const struct rpc *rpc);

#endif
