/* SPDX-License-Identifier: MIT */
/* Requests from inside an attempt. An agent has the uid of its daemon and could do all that its
 * operator may: decide the holds of its own run, for example. So it is recognised by its process,
 * and may read its own run. Hooks of [hook] are the operator's. */
#ifndef RPC_AGENT_ACCESS_H
#define RPC_AGENT_ACCESS_H

#include "rpc/caller.h"
#include "rpc/method.h"

struct rpc;

/* Fill in the rest of a caller with uid and pid. False: nothing can be said of that process, so it
 * is refused. */
bool caller_identify(struct rpc *rpc, struct caller *caller);

/* Why the caller may not call method with params, malloc'd; NULL: it may. The first refusal of a
 * method to an attempt is an event of its run. */
char *agent_refusal(struct rpc *rpc, const struct caller *caller, const struct method *method, const json_t *params);

#endif
