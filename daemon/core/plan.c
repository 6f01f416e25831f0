/* SPDX-License-Identifier: MIT */
#include "core/plan.h"

#include <stdlib.h>

#include "base/memory.h"

static const char *const via[PROMPT_VIAS] = {
	[PROMPT_STDIN] = "stdin",
	[PROMPT_ARG] = "arg",
	[PROMPT_FILE] = "file",
};

static const char *const readers[READER_KINDS] = {
	[READER_TEXT] = "text",
	[READER_CLAUDE] = "claude",
};

const struct state_names prompt_via_names = { "prompt delivery", via, PROMPT_VIAS };
const struct state_names reader_names = { "reader", readers, READER_KINDS };

static void agent_plan_release(struct agent_plan *agent)
{
	free(agent->name);
	strings_free(agent->command);
	strings_free(agent->resume);
	free(agent->model);
	strings_free(agent->set);
	strings_free(agent->env);
	strings_free(agent->writable);
}

char *plan_settle(struct plan *plan, bool has_git, bool many, const char **field)
{
	(void)plan, (void)has_git, (void)many, (void)field;
	return NULL;
}

bool plan_unskip(struct plan *plan)
{
	if (!plan->skipped)
		return false;
	plan->skipped = false;
	plan->review = true;
	free(plan->skip_reason);
	plan->skip_reason = NULL;
	return true;
}

void plan_release(struct plan *plan)
{
	for (int role = 0; role < ROLES; role++)
		agent_plan_release(&plan->agents[role]);
	free(plan->skip_reason);
	free(plan->profile_name);
	strings_free(plan->stop_markers);
	free(plan->base);
	strings_free(plan->checks);
	strings_free(plan->guidelines);
	strings_free(plan->conventions);
	free(plan->review_file);
	free(plan->review_log);
	free(plan->reviewer);
	free(plan->report);
	strings_free(plan->on_hold);
	strings_free(plan->on_end);
	free(plan->developer_prompt);
	free(plan->reviewer_prompt);
	strings_free(plan->env);
	*plan = (struct plan){ 0 };
}
