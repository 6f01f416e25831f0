/* SPDX-License-Identifier: MIT */
#include "job/provider_result.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "job/collect.h"
#include "job/kept_environment.h"
#include "proto/memory.h"

/* The agent's TZ, malloc'd; NULL: not set. */
static char *zone_in(char *const *env)
{
	for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
		if (strncmp(env[i], "TZ=", 3) == 0)
			return xstrdup(env[i] + 3);
	}
	return NULL;
}

char *ending_zone(const struct plan *plan, const struct agent_plan *agent)
{
	char **env = NULL, *zone;

	environment_set_all(&env, (const char *const *)agent->set);
	environment_set_all(&env, (const char *const *)plan->env);
	zone = zone_in(env);
	strings_wipe(env);
	return zone;
}

/* Output about services from a check or a reviewing program belongs to the work. */
int64_t ending_code(const struct plan *plan, enum role role, enum reader_kind reader, const struct exit_record *record)
{
	bool by_status = role == ROLE_REVIEW && plan->profile->carrier == CARRIER_EXIT && reader == READER_TEXT;
	bool exited = record->by == EXIT_OWN && record->how == EXIT_BY_CODE;

	return exited && !role_is_command(role) && !by_status ? record->status : ROW_NONE;
}

/* without the environment the zone is unknown; its other users report that */
void ending_judge(struct collect_job *w)
{
	struct agent_ending ending = { w->reader, w->exit_code, w->last_words, w->ended_at, w->zone };
	char **env = NULL, *zone = NULL, *error = NULL;

	if (!w->result.is_error && w->exit_code == 0)
		return;
	if (w->zone == NULL) {
		env = environment_load(w->job.state_dir, w->secrets.environment, NULL, &error);
		zone = zone_in(env);
		ending.zone = zone;
	}
	w->doubt = agent_result_complete(&w->result, &ending);
	strings_wipe(env);
	free(zone);
	free(error);
}
