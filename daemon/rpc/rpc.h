/* SPDX-License-Identifier: MIT */
/* The daemon's face to its clients: sockets, methods and the event feed. What main.c
 * sees of this room. */
#ifndef RPC_RPC_H
#define RPC_RPC_H

#include <uv.h>

#include "config/config.h"
#include "engine/engine.h"
#include "store/store.h"

struct rpc;

/* All pointed to must live until rpc_close() has told; state_dir, version and
 * instance are copied. */
struct rpc_options {
	uv_loop_t *loop;
	struct engine *engine;
	struct store *store;
	const struct config *const *config;	/* where the settings in force are found: a
						 * reload swaps them */
	const char *state_dir;			/* absolute */
	const char *config_file;		/* where one is looked for at a reload */
	const char *shim, *rl_git;		/* paths of rl-shim and rl-git */
	const char *unknown;			/* what the database did not know at the start,
						 * a sentence; NULL */
	const char *const *lost;		/* results that are gone since a reboot, a sentence
						 * each; NULL: none, or not looked for yet */
	const char *version;
	const char *instance;		/* of the state directory: eight hex digits */
	int64_t started_at;			/* ms since the epoch */
	/* daemon.stop: called from the loop once the answer is on its way. */
	void (*stop)(void *arg, bool drain);
	/* daemon.reload: 0, or -1 with a sentence, and the old settings stay. */
	int (*reload)(void *arg, char *error, size_t room);
	void *arg;
};

/* After the events on disk are known to the store, before any commit. */
struct rpc *rpc_new(const struct rpc_options *options);

/* Listen on path, mode 0600; at most two paths. 0, or -1 with a sentence that names the remedy. */
int rpc_listen(struct rpc *rpc, const char *path, char *error, size_t room);

/* Make those sockets anew whose files are gone; what fails is logged. */
void rpc_listen_again(struct rpc *rpc);

/* A decision is on disk and in the view: send its events, and answer waiting calls. */
void rpc_committed(struct rpc *rpc, const struct decision *d);

/* Give clients what can be sent at once and close. Frees rpc when the calls under way are over,
 * then closed(). Engine and store must still work. */
void rpc_close(struct rpc *rpc, void (*closed)(void *arg), void *arg);

/* rld --print-openrpc: the document of rpc.discover on stdout. Returns the exit status. */
int rpc_print_openrpc(const char *version);

#endif
