/* SPDX-License-Identifier: MIT */
#include "config/launcher_fill.h"

#include <stdlib.h>
#include <string.h>

#include "agent/launcher.h"
#include "core/plan_words.h"
#include "proto/memory.h"
#include "proto/state_names.h"

/* New; NULL if unset. */
static char *text_of(const struct layers *layers, const char *path)
{
	json_t *json = layers_get(layers, path, NULL);
	char *text = xstrdup(json_string_value(json));

	json_decref(json);
	return text;
}

/* The value of [launcher.NAME]; a new reference, or NULL. */
static json_t *value_of(const struct layers *layers, const char *name, const char *key)
{
	char *path = xasprintf("launcher.%s.%s", name, key);
	json_t *json = layers_get(layers, path, NULL);

	free(path);
	return json;
}

static char **words_of(const struct layers *layers, const char *name, const char *key)
{
	json_t *json = value_of(layers, name, key);
	char **words = plan_words(json);

	json_decref(json);
	return words;
}

static void append_all(char ***list, char *const *words)
{
	for (; *words != NULL; words++)
		strings_append(list, *words);
}

/* The words of the key, with the options in their place, or else at the end if they belong
 * there. */
static char **with_options(const struct layers *layers, const char *name, const char *key, bool at_end)
{
	char **words = words_of(layers, name, key), **options = words_of(layers, name, "options");
	char **all = plan_words(NULL);

	for (char **word = words; *word != NULL; word++)
		if (strcmp(*word, LAUNCHER_OPTIONS) == 0)
			append_all(&all, options);
		else
			strings_append(&all, *word);
	if (at_end && !strings_contain(words, LAUNCHER_OPTIONS))
		append_all(&all, options);
	strings_free(words);
	strings_free(options);
	return all;
}

/* "NAME=SLOTS" of each */
static char **hosts_of(const struct layers *layers, const char *name)
{
	json_t *json = value_of(layers, name, "hosts"), *host;
	char **hosts = plan_words(NULL);
	size_t i;

	json_array_foreach(json, i, host) {
		char *word = xasprintf("%s=%lld", json_string_value(json_object_get(host, "name")),
		    (long long)json_integer_value(json_object_get(host, "slots")));

		strings_append(&hosts, word);
		free(word);
	}
	json_decref(json);
	return hosts;
}

static bool is_copied(const struct layers *layers, const char *name)
{
	json_t *json = value_of(layers, name, "files");
	bool copied = json != NULL &&
	    strcmp(json_string_value(json), state_name(&launcher_files_names, LAUNCHER_COPIED)) == 0;

	json_decref(json);
	return copied;
}

/* The name for the agent, malloc'd. */
static char *choose(const struct layers *layers, const struct agent_plan *agent)
{
	char *path = xasprintf("agent.%s.launcher", agent->name), *name = NULL;

	if (!layers_submitted(layers, "run.launcher"))
		name = text_of(layers, path);
	free(path);
	return name != NULL ? name : text_of(layers, "run.launcher");
}

static void fill_one(const struct layers *layers, struct agent_plan *agent)
{
	char *name = choose(layers, agent);
	json_t *slots;

	if (name == NULL || strcmp(name, LAUNCHER_LOCAL) == 0) {
		free(name);
		return;
	}
	agent->launcher = name;
	agent->launch = with_options(layers, name, "command", true);
	agent->cancel = with_options(layers, name, "cancel", false);
	slots = value_of(layers, name, "slots");
	agent->launcher_slots = json_integer_value(slots);
	json_decref(slots);
	agent->hosts = hosts_of(layers, name);
	agent->copies = is_copied(layers, name);
}

static void fill_agent_of_role(const struct layers *layers, struct agent_plan *agent)
{
	fill_one(layers, agent);
	for (size_t i = 0; i < agent->nfallbacks; i++)
		fill_one(layers, &agent->fallbacks[i]);
}

/* Whether it may review behind a launcher: rl-shim would confine the launcher only. */
static int check_confined(const struct layers *layers, const struct plan *plan, const struct agent_plan *first,
    struct config_error *error)
{
	const struct agent_plan *agent;
	struct origin origin;
	int rv = 0;

	if (!plan->review || !plan->read_only || plan->sandbox != SANDBOX_REQUIRE)
		return 0;
	for (size_t i = 0; rv == 0 && (agent = plan_agent_at(first, i)) != NULL; i++) {
		if (agent->launcher == NULL)
			continue;
		json_decref(layers_get(layers, "review.sandbox", &origin));
		rv = config_refuse(error, origin.field != NULL ? origin.field : "launcher",
		    "%s: a reviewer behind launcher '%s' cannot be confined; set launcher = \"local\" in [agent.%s], "
		    "or sandbox = \"try\"", origin.name, agent->launcher, agent->name);
		free(origin.text);
	}
	return rv;
}

/* Of a preset that is used without a table. */
static int check_hosts(const struct agent_plan *first, struct config_error *error)
{
	const struct agent_plan *agent;

	for (size_t i = 0; (agent = plan_agent_at(first, i)) != NULL; i++)
		if (agent->launcher != NULL && launcher_names(agent->launch, "{node}") && agent->hosts[0] == NULL)
			return config_refuse(error, "launcher", "launcher '%s' has no hosts: add hosts = "
			    "[{ name = \"n1\", slots = 4 }] to [launcher.%s] in rld.toml", agent->launcher,
			    agent->launcher);
	return 0;
}

int launcher_fill_plan(const struct layers *layers, struct plan *plan, struct config_error *error)
{
	static const enum role roles[] = { ROLE_IMPLEMENT, ROLE_FIX, ROLE_COMMIT };
	int rv = 0;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		fill_agent_of_role(layers, &plan->agents[roles[i]]);
	/* a reviewing program is no agent */
	if (plan->reviewer == NULL)
		fill_agent_of_role(layers, &plan->agents[ROLE_REVIEW]);
	for (size_t i = 0; i < plan->nreviewers; i++)
		fill_agent_of_role(layers, &plan->reviewers[i]);
	for (size_t i = 0; i < ROLES && rv == 0; i++)
		rv = check_hosts(&plan->agents[i], error);
	for (size_t i = 0; i < plan->nreviewers && rv == 0; i++)
		rv = check_hosts(&plan->reviewers[i], error);
	if (rv == 0)
		rv = check_confined(layers, plan, &plan->agents[ROLE_REVIEW], error);
	for (size_t i = 0; i < plan->nreviewers && rv == 0; i++)
		rv = check_confined(layers, plan, &plan->reviewers[i], error);
	return rv;
}
