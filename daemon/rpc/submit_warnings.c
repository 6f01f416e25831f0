/* SPDX-License-Identifier: MIT */
#include "rpc/submit_warnings.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/logout.h"
#include "base/redact.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "proto/memory.h"

/* Each text once. Takes ownership of text. */
static void add_warning(json_t *list, char *text)
{
	bool there = false;
	json_t *other;
	size_t i;

	json_array_foreach(list, i, other)
		there |= strcmp(json_string_value(other), text) == 0;
	if (!there)
		json_array_append_new(list, json_string(text));
	free(text);
}

/* If the profile makes the implementer fix its own work, a fixer agent has no effect. */
static void warn_of_switch(json_t *list, const struct plan *plan)
{
	const char *coder = plan->agents[ROLE_IMPLEMENT].name, *fixer = plan->agents[ROLE_FIX].name;

	if (!plan->review || plan->fixer != FIXER_IMPLEMENTER || fixer == NULL || coder == NULL ||
	    strcmp(coder, fixer) == 0)
		return;
	add_warning(list, xasprintf("%s reworks what %s has written: in profile %s the implementer "
	    "is also the fixer; omit the fixer's agent", fixer, coder, plan->profile_name));
}

static void warn_of_logout(json_t *list, const struct logout *logout)
{
	char *remedy;

	if (!logout->ends)
		return;
	remedy = logout_remedy(logout);
	add_warning(list, xasprintf("a logout of %s ends the daemon and its agents; prevent it with \"%s\"",
	    logout->user, remedy));
	free(remedy);
}

char *submit_warnings(const struct plan *plan, char *const *task_plans, const struct logout *logout)
{
	json_t *list = json_array();
	char *text;

	warn_of_logout(list, logout);
	warn_of_switch(list, plan);
	for (; task_plans != NULL && *task_plans != NULL; task_plans++) {
		struct plan own = { 0 };

		if (plan_from_json(*task_plans, &own) == 0)
			warn_of_switch(list, &own);
		plan_release(&own);
	}
	/* variables of --env are stored in the run's plan, which clients can read */
	for (size_t i = 0; plan->env != NULL && plan->env[i] != NULL; i++) {
		size_t length = strcspn(plan->env[i], "=");
		char *name = xmemdup0(plan->env[i], length);

		if (redact_hides(name, plan->env[i][length] == '=' ? plan->env[i] + length + 1 : NULL)) {
			text = xasprintf("%s looks like a secret, and --env would store it in the "
			    "database with the run; instead, set env = [\"%s\"] in [agent.%s] of "
			    "rld.toml: then it is taken from your environment and deleted when the "
			    "run ends",
			    name, name, plan->agents[ROLE_IMPLEMENT].name);
			add_warning(list, text);
		}
		free(name);
	}
	text = json_array_size(list) > 0 ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(list);
	return text;
}
