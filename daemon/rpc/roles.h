/* SPDX-License-Identifier: MIT */
/* Who may connect, and what each may do: [access] as users and groups of this host, and the one
 * place where a call is refused for it. What an agent may not is in rpc/agent_access.h. */
#ifndef RPC_ROLES_H
#define RPC_ROLES_H

#include "rpc/caller.h"
#include "rpc/method.h"

struct rpc;

struct roles {
	struct access_table table;
	/* names that this host does not know, a sentence each; NULL: none */
	char **unknown;
	bool open;			/* for others than the daemon's user and root */
};

/* Look up all names: at the start, before a client can connect. Blocks on the directory
 * service. */
void roles_init(struct rpc *rpc);
void roles_release(struct roles *roles);

/* The same off the loop, for a reload. Then they apply, also to who is connected, and done, unless
 * NULL, is called. */
void roles_refresh(struct rpc *rpc, void (*done)(void *arg), void *arg);

/* Set the rank of a peer. Returns NULL, or why it may not connect, malloc'd. */
char *roles_admit(struct rpc *rpc, struct caller *caller);

/* Calls go(arg) if the caller's role permits the call, refuse() with a sentence and a hint
 * otherwise: possibly before it returns, exactly one of them. */
struct roles_check {
	struct rpc *rpc;
	const struct caller *caller;
	const struct method *method;
	const json_t *params;
	void (*go)(void *arg);
	void (*refuse)(void *arg, const char *text, const char *hint);
	void *arg;
};
void roles_check(const struct roles_check *check);

extern const struct state_names caller_role_names;	/* "agent", "read", "submit", "admin" */

const char *roles_name(const struct caller *caller);

#endif
