/* SPDX-License-Identifier: MIT */
/* The checks of daemon.doctor, and the three that look: at the host, at the agents, at
 * the review logs. */
#ifndef RPC_DOCTOR_H
#define RPC_DOCTOR_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "core/state.h"

struct rpc;

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_FAILED, DOCTOR_STATES };

extern const struct state_names doctor_state_names;

struct doctor_check {
	const char *name;		/* static: a word */
	enum doctor_state state;
	char *text;			/* what was found; owned */
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
/* Those of from behind those of to; from is empty then. */
void doctor_move(struct doctor_checks *to, struct doctor_checks *from);
void doctor_release(struct doctor_checks *checks);
json_t *doctor_json(const struct doctor_checks *checks);

/* What is looked at on the host. Strings are borrowed while it is looked at. */
struct doctor_host {
	const char *state_dir, *shim, *rl_git, *version;
	char **sockets;			/* NULL-terminated */
	const char *config_file;	/* where one is looked for */
	struct config_stamp config;	/* as it was read */
	int64_t disk_floor;		/* bytes, 0: none */
	int64_t parallel;
	bool sandbox_required;
	bool deep;
	const char *probe;		/* name of the one that looks now */
	struct doctor_checks checks;
};

/* Blocks on the disk, and on the programs that it asks for their version: a worker's. */
void doctor_look(struct doctor_host *host);

/* Every agent that a run could name. */
json_t *doctor_agents(const struct config *config);
/* Warn of each [account.NAME] that is the account of none of these agents: its budgets have no
 * effect. */
void doctor_accounts(const struct config *config, const json_t *agents, struct doctor_checks *checks);

/* done is called once, on the loop: whether the review logs of the newest runs are as
 * they were written. */
void doctor_chains(struct rpc *rpc, void (*done)(void *arg, enum doctor_state state, const char *text), void *arg);

#endif
