/* SPDX-License-Identifier: MIT */
/* Who is at the other end of a connection. */
#ifndef RPC_CALLER_H
#define RPC_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

#include "engine/agent_client.h"

struct caller {
	uid_t uid;
	pid_t pid;
	/* its process is below an attempt or a git step of this daemon */
	bool is_agent;
	struct agent agent;		/* ... which is this one */
};

#endif
