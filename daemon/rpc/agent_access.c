/* SPDX-License-Identifier: MIT */
#include "rpc/agent_access.h"

#include <string.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "proc/origin.h"
#include "proto/memory.h"
#include "rpc/context.h"

/* What an agent may read of its own run, and the parameter that says which run it asks for. */
static const struct readable {
	const char *method, *run;
} readable[] = {
	{ "run.get", "id" },
	{ "run.diff", "id" },
	{ "run.report", "id" },
	{ "attempt.list", "run" },
	{ "review.list", "run" },
	{ "review.export", "run" },
	{ "review.verify", "run" },
	{ "product.list", "run" },
	{ "evidence.list", "run" },
	{ "hold.list", "run" },
	{ NULL, NULL }
};

static bool is_known(void *engine, const char *mark)
{
	struct agent agent;

	return engine_find_agent(engine, 0, mark, &agent);
}

bool caller_identify(struct rpc *rpc, struct caller *caller)
{
	const struct origin_marks marks = { is_known, rpc->options.engine };
	const struct agent_user *agents = agent_user();
	struct origin origin = { .mark = "" };

	if (agents->apart) {
		/* no agent can become another user: rl-start has taken that from it */
		caller->is_agent = caller->peer.uid == agents->is.uid;
		caller->agent = (struct agent){ 0 };
		if (!caller->is_agent || !origin_by_group(caller->peer.pid, origin.mark))
			return true;
		if (engine_is_hook(rpc->options.engine, origin.mark))
			caller->is_agent = false;
		else
			engine_find_agent(rpc->options.engine, 0, origin.mark, &caller->agent);
		return true;
	}
	origin_look(caller->peer.pid, rpc->state_dir, &marks, &origin);
	caller->is_agent = engine_find_agent(rpc->options.engine, origin.id, origin.mark, &caller->agent);
	/* what /proc hides of other users is none of our agents, who have our user */
	return !origin.unknown || (origin.hidden && caller->peer.uid != geteuid());
}

static bool may_read(const struct agent *agent, const struct method *method, const json_t *params)
{
	for (const struct readable *r = readable; r->method != NULL; r++)
		if (strcmp(r->method, method->name) == 0)
			return !agent->blind && agent->run != 0 &&
			    json_integer_value(json_object_get(params, r->run)) == agent->run;
	return method->access == ACCESS_ANY;
}

char *agent_refusal(struct rpc *rpc, const struct caller *caller, const struct method *method, const json_t *params)
{
	const struct agent *agent = &caller->agent;

	if (!caller->is_agent || may_read(agent, method, params))
		return NULL;
	if (refusals_of_agent(&rpc->refusals, agent->attempt, method->name))
		engine_agent_refused(rpc->options.engine, agent, method->name, (int)caller->peer.uid,
		    (int)caller->peer.pid);
	if (agent->blind)
		return xasprintf("%s: an agent of this run may not ask for anything: its reviewer and fixers must not "
		    "see the task", method->name);
	if (agent->run == 0 && agent->attempt == 0)
		return xasprintf("%s: the user of the agents may not ask for anything", method->name);
	if (agent->run == 0)
		return xasprintf("%s: a process of attempt %lld, which has ended, may not ask for anything",
		    method->name, (long long)agent->attempt);
	return xasprintf("%s: an agent may only read its own run, %lld; it cannot change runs, decide holds, or read "
	    "other runs", method->name, (long long)agent->run);
}
