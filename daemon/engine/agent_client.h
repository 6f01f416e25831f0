/* SPDX-License-Identifier: MIT */
/* Agents as clients: which attempt or step of an unfinished run a process belongs to. */
#ifndef ENGINE_AGENT_CLIENT_H
#define ENGINE_AGENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct agent {
	int64_t attempt;		/* or step */
	int64_t run;			/* 0: it has ended */
	bool blind;			/* it must not see the task of the run */
};

/* By the id of its directory (0: unknown), or the uuid it is marked with (""). False: it belongs to
 * none, or to a hook of [hook], which is the operator's. */
bool engine_find_agent(struct engine *engine, int64_t id, const char *mark, struct agent *agent);

/* Whether a mark is that of a hook of [hook]. */
bool engine_is_hook(const struct engine *engine, const char *mark);

/* Record that it was refused a method. */
void engine_agent_refused(struct engine *engine, const struct agent *agent, const char *method, int uid, int pid);

#endif
