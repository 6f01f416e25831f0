/* SPDX-License-Identifier: MIT */
#include "job/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "core/plan.h"
#include "core/state.h"
#include "job/kept_environment.h"
#include "proto/memory.h"

struct secrets secrets_new(const char *environment, const struct plan *plan)
{
	return (struct secrets){ xstrdup(environment), strings_copy(plan->env) };
}

void secrets_release(struct secrets *secrets)
{
	free(secrets->environment);
	strings_wipe(secrets->pairs);
	*secrets = (struct secrets){ 0 };
}

struct redactor *secrets_redactor(const char *state_dir, const struct secrets *secrets)
{
	char *error = NULL, **all = environment_kept(state_dir, secrets->environment, &error);
	struct redactor *redactor = redact_new();

	for (size_t i = 0; all != NULL && all[i] != NULL; i++) {
		const char *entry = all[i];

		/* "rld:set:NAME:KEY=value" is KEY=value; the agent's name is irrelevant */
		if (strncmp(entry, SECRETS_SET, strlen(SECRETS_SET)) == 0 &&
		    strchr(entry + strlen(SECRETS_SET), ':') != NULL)
			entry = strchr(entry + strlen(SECRETS_SET), ':') + 1;
		redact_add_variable(redactor, entry);
	}
	for (size_t i = 0; secrets->pairs != NULL && secrets->pairs[i] != NULL; i++)
		redact_add_variable(redactor, secrets->pairs[i]);
	strings_wipe(all);
	free(error);
	return redactor;
}

bool secrets_redact_json(const struct redactor *redactor, json_t *json)
{
	bool changed = false;
	const char *name;
	json_t *value;
	void *next;
	char *masked;
	size_t i, size;

	json_array_foreach(json, i, value)
		changed |= secrets_redact_json(redactor, value);
	json_object_foreach_safe(json, next, name, value) {
		changed |= secrets_redact_json(redactor, value);
		masked = redact_text(redactor, name, strlen(name), NULL);
		if (masked == NULL)
			continue;
		json_object_set(json, masked, value);
		json_object_del(json, name);
		free(masked);
		changed = true;
	}
	if (!json_is_string(json))
		return changed;
	masked = redact_text(redactor, json_string_value(json), json_string_length(json), &size);
	if (masked == NULL)
		return false;
	json_string_setn(json, masked, size);
	free(masked);
	return true;
}

static void keep(char ***environment, const char *agent, const char *pair)
{
	char *entry;

	/* none was sent, so the daemon's own applies, which a list would replace */
	if (*environment == NULL)
		strings_append(environment, SECRETS_OWN);
	entry = xasprintf(SECRETS_SET "%s:%s", agent, pair);
	if (!strings_contain(*environment, entry))
		strings_append(environment, entry);
	explicit_bzero(entry, strlen(entry));
	free(entry);
}

/* Agent whose `set` applies: a reviewing program has the implementer's. */
static const char *owner_of(const struct plan *plan, enum role role, const struct agent_plan *agent)
{
	return role == ROLE_REVIEW && plan->reviewer != NULL ? plan->agents[ROLE_IMPLEMENT].name : agent->name;
}

/* Locale and directories are not secret, and other code needs them; but a proxy URL may contain a
 * password. */
static bool is_common(const char *name)
{
	for (size_t i = 0; agent_environment[i] != NULL; i++) {
		size_t n = strcspn(agent_environment[i], "*");

		if (strcasestr(agent_environment[i], "proxy") == NULL && strncmp(name, agent_environment[i], n) == 0 &&
		    (agent_environment[i][n] == '*' || name[n] == '\0'))
			return true;
	}
	return false;
}

static void hide_set(char **set, const char *agent, char ***environment)
{
	for (size_t i = 0; set != NULL && set[i] != NULL; i++) {
		size_t name = strcspn(set[i], "=");
		char *word, *key = xmemdup0(set[i], name);

		if (set[i][name] == '=' && (redact_hides(key,
		    NULL) || (strlen(set[i] + name + 1) >= REDACT_VALUE_MIN && !is_common(key)))) {
			keep(environment, agent, set[i]);
			word = xasprintf("%s:%s", agent, key);
			explicit_bzero(set[i], strlen(set[i]));
			free(set[i]);
			set[i] = word;
		}
		free(key);
	}
}

void secrets_hide(struct plan *plan, char ***environment)
{
	for (size_t n = 0; n < plan->nreviewers; n++) {
		const struct agent_plan *agent;

		for (size_t i = 0; (agent = plan_agent_at(&plan->reviewers[n], i)) != NULL; i++)
			hide_set(agent->set, agent->name, environment);
	}
	for (int role = 0; role < ROLES; role++) {
		const struct agent_plan *agent;

		for (size_t i = 0; (agent = plan_agent_at(&plan->agents[role], i)) != NULL; i++)
			if (agent->name != NULL)
				hide_set(agent->set, owner_of(plan, (enum role)role, agent), environment);
	}
}

/* word: "NAME:KEY". Returns NULL, or why not. */
static char *hide_again(const char *word, secrets_find *find, void *arg, char ***environment)
{
	const char *colon = strchr(word, ':');
	char *agent = xmemdup0(word, (size_t)(colon - word)), *value = find(arg, agent, colon + 1),
	    *pair, *error = NULL;

	if (value == NULL) {
		error = xasprintf("agent '%s' of the run had %s in its `set`; that value was not "
		    "saved, and rld.toml no longer has it", agent, colon + 1);
	} else {
		pair = xasprintf("%s=%s", colon + 1, value);
		keep(environment, agent, pair);
		explicit_bzero(pair, strlen(pair));
		explicit_bzero(value, strlen(value));
		free(pair);
	}
	free(value);
	free(agent);
	return error;
}

/* Of the agent and its fallbacks. */
static char *hide_all_again(const struct agent_plan *first, secrets_find *find, void *arg, char ***environment)
{
	const struct agent_plan *agent;
	char *error = NULL;

	for (size_t i = 0; (agent = plan_agent_at(first, i)) != NULL; i++)
		for (char **word = agent->set; error == NULL && word != NULL && *word != NULL; word++)
			if (strchr(*word, '=') == NULL && strchr(*word, ':') != NULL)
				error = hide_again(*word, find, arg, environment);
	return error;
}

char *secrets_hide_again(const struct plan *plan, secrets_find *find, void *arg, char ***environment)
{
	char *error = NULL;

	for (int role = 0; error == NULL && role < ROLES; role++)
		error = hide_all_again(&plan->agents[role], find, arg, environment);
	for (size_t i = 0; error == NULL && i < plan->nreviewers; i++)
		error = hide_all_again(&plan->reviewers[i], find, arg, environment);
	return error;
}
