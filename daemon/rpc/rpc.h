/* SPDX-License-Identifier: MIT */
/* The daemon's interface to its clients: sockets, methods and the event feed. The part that main.c
 * uses. */
#ifndef RPC_RPC_H
#define RPC_RPC_H

#include <uv.h>

#include "config/config.h"
#include "engine/engine.h"
#include "store/store.h"

struct keeper;
struct rpc;

/* All pointers must stay valid until rpc_close() has reported; state_dir, version and instance are
 * copied. */
struct rpc_options {
	uv_loop_t *loop;
	struct engine *engine;
	struct store *store;
	struct keeper *keeper;
	const struct config *const *config;	/* the current settings: a reload replaces them */
	const char *state_dir;			/* absolute */
	const char *config_file;		/* path of the settings file for a reload */
	bool system;			/* the service of the whole host, not a user's own daemon */
	const char *shim, *rl_git;		/* paths of rl-shim and rl-git */
	/* directories unknown to the database at start, as a sentence; NULL */
	const char *unknown;
	/* results lost in a reboot, one sentence each; NULL: none, or not checked yet */
	const char *const *lost;
	const char *version;
	const char *instance;		/* of the state directory: eight hex digits */
	int64_t started_at;			/* ms since the epoch */
	/* daemon.stop: called from the loop after the answer was queued. */
	void (*stop)(void *arg, bool drain);
	/* daemon.reload: 0, or -1 with a sentence, and the old settings remain. */
	int (*reload)(void *arg, char *error, size_t room);
	void *arg;
};

/* Call it after the store knows the events on disk, before any commit. */
struct rpc *rpc_new(const struct rpc_options *options);

/* Listen on path; at most two paths. Others can connect to it only where [access] has a place for
 * them. inherited: a socket that listens there already, or negative. Returns 0, or -1 with a
 * sentence that names the remedy. */
int rpc_listen(struct rpc *rpc, const char *path, int inherited, char *error, size_t room);

/* The daemon cannot start: answer the clients that wait at an inherited socket with this error, so
 * that the service manager does not start it again for them. */
void rpc_refuse_waiting(int inherited, const char *message);

/* Create sockets again whose files were removed; failures are logged. */
void rpc_listen_again(struct rpc *rpc);

/* The settings were read again: look up the names of [access] off the loop; then they apply, also
 * to who is connected. */
void rpc_access_changed(struct rpc *rpc);

/* A decision is on disk and in the view: send its events, and answer waiting calls. */
void rpc_committed(struct rpc *rpc, const struct decision *d);

/* Send clients what can be sent immediately, and close. Frees rpc when pending calls have ended,
 * then calls closed(). Engine and store must still work. */
void rpc_close(struct rpc *rpc, void (*closed)(void *arg), void *arg);

/* rld --print-agents: print the agents of daemon.doctor. Returns the exit status. */
int rpc_print_agents(const struct config *config);

/* rld --print-openrpc: print the document of rpc.discover. Returns the exit status. */
int rpc_print_openrpc(const char *version);

#endif
