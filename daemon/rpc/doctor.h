/* SPDX-License-Identifier: MIT */
/* The checks of daemon.doctor, and three groups of them: the host, the agents, the review logs. */
#ifndef RPC_DOCTOR_H
#define RPC_DOCTOR_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "core/state.h"
#include "proc/starter.h"

struct rpc;

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_FAILED, DOCTOR_STATES };

extern const struct state_names doctor_state_names;

struct doctor_check {
	const char *name;		/* static: one word */
	enum doctor_state state;
	char *text;			/* the result; owned */
	char *remedy;			/* what to do, NULL: nothing; owned */
};

struct doctor_checks {
	struct doctor_check *list;
	size_t count;
};

/* remedy: copied, NULL for none. */
void doctor_say(struct doctor_checks *checks, const char *name, enum doctor_state state,
    const char *remedy, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void doctor_vsay(struct doctor_checks *checks, const char *name, enum doctor_state state,
    const char *remedy, const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));
/* Append the checks of from to those of to; from is empty afterwards. */
void doctor_move(struct doctor_checks *to, struct doctor_checks *from);
void doctor_release(struct doctor_checks *checks);
json_t *doctor_json(const struct doctor_checks *checks);

/* Input for the checks of the host. Strings are borrowed while they run. */
struct doctor_host {
	const char *state_dir, *shim, *rl_git, *version;
	char **sockets;			/* NULL-terminated */
	bool to_others;			/* [access] has a place for other users */
	char **unknown;			/* sentences about its unknown names; NULL: none */
	const char *config_file;	/* path of the settings file */
	struct config_stamp config;	/* its stamp when it was read */
	int64_t disk_floor;		/* bytes, 0: none */
	int64_t parallel;
	struct start_limits limits;	/* of each attempt */
	bool sandbox_required;
	bool deep;
	struct shim_seen *shims;	/* deep: out, to be freed */
	size_t nshims;
	const char *probe;		/* name of the current probe */
	struct doctor_checks checks;
};

/* Blocks on the disk and on programs asked for their version: call it on a worker. */
void doctor_look(struct doctor_host *host);
/* Whether a logout ends the daemon; on a worker, too. */
void doctor_logout(struct doctor_checks *checks);

/* All agents that a run may name. */
json_t *doctor_agents(const struct config *config);
/* Warn of each [account.NAME] that is the account of none of these agents: its budgets have no
 * effect. */
void doctor_accounts(const struct config *config, const json_t *agents, struct doctor_checks *checks);

/* Calls done once, on the loop: whether the review logs of the newest runs are unaltered, which
 * refs of their results are not as recorded, NULL: none; and the newest of these refs, NULL:
 * none. */
typedef void doctor_chains_cb(void *arg, enum doctor_state state, const char *text, const char *moved,
    const char *newest);
void doctor_chains(struct rpc *rpc, doctor_chains_cb *done, void *arg);

#endif
