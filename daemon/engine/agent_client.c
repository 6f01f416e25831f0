/* SPDX-License-Identifier: MIT */
#include "engine/agent_client.h"

#include <jansson.h>
#include <string.h>

#include "base/log.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/row.h"
#include "model/model.h"
#include "model/runs.h"
#include "slot/hooks.h"
#include "txn/txn.h"

static bool is_it(int64_t its, const char *uuid, int64_t id, const char *mark)
{
	return its == id || (uuid != NULL && strcmp(uuid, mark) == 0);
}

static int64_t find_step(const struct slot *slot, int64_t id, const char *mark)
{
	const struct step_row *step = slot->op.step;

	return step != NULL && is_it(step->id, step->uuid, id, mark) ? step->id : 0;
}

/* The id of the attempt or step; 0: none of that run. */
static int64_t find_in_run(const struct run *run, int64_t id, const char *mark)
{
	int64_t found = find_step(&run->own, id, mark);

	for (size_t i = 0; found == 0 && i < run->rows->nattempts; i++) {
		const struct attempt_row *a = run->rows->attempts[i];

		found = is_it(a->id, a->uuid, id, mark) ? a->id : 0;
	}
	for (size_t i = 0; found == 0 && i < run->nslots; i++)
		found = find_step(run->slots[i], id, mark);
	return found;
}

bool engine_is_hook(const struct engine *engine, const char *mark)
{
	return hook_is_marked(engine, mark);
}

bool engine_find_agent(struct engine *engine, int64_t id, const char *mark, struct agent *agent)
{
	struct run *run;

	*agent = (struct agent){ .attempt = id };
	if ((id == 0 && mark[0] == '\0') || hook_find(engine, id) != NULL)
		return false;
	LIST_FOREACH(run, &engine->begun, begun) {
		int64_t found = find_in_run(run, id, mark);

		if (found == 0)
			continue;
		agent->attempt = found;
		agent->run = run->rows->run.id;
		agent->blind = run->plan.review && run->plan.profile->no_task;
		return true;
	}
	/* below a shim of ours; a mark alone is another daemon's */
	return id != 0;
}

void engine_agent_refused(struct engine *engine, const struct agent *agent, const char *method, int uid, int pid)
{
	struct txn *txn;

	log_about(LOG_LEVEL_WARN, 0, agent->attempt, "process %d of attempt %lld was refused %s", pid,
	    (long long)agent->attempt, method);
	if (run_find(engine, agent->run) == NULL)
		return;
	txn = txn_new(engine);
	txn_emit(txn, "agent.refused", agent->run, json_pack("{s:I, s:s, s:i, s:i}", "attempt",
	    (json_int_t)agent->attempt, "method", method, "uid", uid, "pid", pid));
	txn_commit(txn);
}
