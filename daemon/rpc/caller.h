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

#endif
