/* SPDX-License-Identifier: MIT */
/* Who is at the other end of a connection. */
#ifndef RPC_CALLER_H
#define RPC_CALLER_H

#include <stdbool.h>

#include "base/credentials.h"
#include "core/access.h"
#include "engine/agent_client.h"

struct caller {
	struct peer peer;		/* as of the connect */
	enum rank rank;			/* by the settings of now */
	/* its process is below an attempt or a git step of this daemon */
	bool is_agent;
	struct agent agent;		/* ... which is this one */
};

/* One who must always be able to connect. Agents have the uid of an administrator, and are none. */
static inline bool caller_is_admin(const struct caller *caller)
{
	return caller->rank == RANK_ADMIN && !caller->is_agent;
}

/* Whether connections of both count together: agents do not use up those of their user. */
static inline bool caller_is_alike(const struct caller *a, const struct caller *b)
{
	return a->peer.uid == b->peer.uid && a->is_agent == b->is_agent;
}

#endif
