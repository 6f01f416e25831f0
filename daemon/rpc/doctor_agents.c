/* SPDX-License-Identifier: MIT */
/* The agents, for the client to check: they run in the environment of their submitter. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "config/setting.h"
#include "config/setting_rules.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/doctor.h"

/* Settings by path, for config_each(). */
static void keep(void *arg, const char *path, const char *value, const char *from, const char *help)
{
	(void)from;
	(void)help;
	json_object_set_new(arg, path, json_document(value, json_null()));
}

static const json_t *of_agent(const json_t *known, const char *agent, const char *key)
{
	char *path = xasprintf("agent.%s.%s", agent, key);
	const json_t *value = json_object_get(known, path);

	free(path);
	return value;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* The preset of a program: one of that name, or another [agent.NAME] with the same command. */
static const struct agent_preset *preset_of(const char *name, const char *program)
{
	const struct agent_preset *own = agent_preset_find(name);

	if (own != NULL && strcmp(own->command[0], file_name(program)) == 0)
		return own;
	for (const struct agent_preset *preset = agent_presets; preset->name != NULL; preset++) {
		if (strcmp(preset->command[0], file_name(program)) == 0)
			return preset;
	}
	return NULL;
}

static bool has_word(const json_t *list, const char *word)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)list, i, item) {
		if (json_is_string(item) && strcmp(json_string_value(item), word) == 0)
			return true;
	}
	return false;
}

/* The settings that name this agent: they do not work without it. */
static json_t *used_by(const json_t *known, const char *agent)
{
	json_t *list = json_array();
	const char *path, *rest;
	json_t *value;

	json_object_foreach((json_t *)known, path, value) {
		const struct setting *setting = setting_find(path, &rest);

		if (setting == NULL || setting->is.rule != &rule_agent)
			continue;
		if (has_word(value, agent) || (json_is_string(value) && strcmp(json_string_value(value), agent) == 0))
			json_array_append_new(list, json_string(path));
	}
	return list;
}

static json_t *words(const char *const *list)
{
	json_t *json = json_array();

	for (; list != NULL && *list != NULL; list++)
		json_array_append_new(json, json_string(*list));
	return json;
}

/* Only names: values may be secrets. */
static json_t *names_of(const json_t *set)
{
	json_t *list = json_array(), *value;
	const char *name;

	json_object_foreach((json_t *)set, name, value)
		json_array_append_new(list, json_string(name));
	return list;
}

/* Why the agent cannot work as this user; NULL: no known reason. */
static const char *caveat(const json_t *command, const json_t *set)
{
	const char *sandbox = json_string_value(json_object_get(set, "IS_SANDBOX"));

	if (geteuid() == 0 && has_word(command, "--dangerously-skip-permissions") &&
	    (sandbox == NULL || strcmp(sandbox, "1") != 0))
		return "it refuses --dangerously-skip-permissions when run as root: add set = { "
		    "IS_SANDBOX = \"1\" } to its table in rld.toml";
	return NULL;
}

static json_t *agent_document(const json_t *known, const char *name, const json_t *command)
{
	const json_t *set = of_agent(known, name, "set"), *env = of_agent(known, name, "env"),
	    *account = of_agent(known, name, "account");
	const char *program = json_string_value(json_array_get(command, 0));
	const struct agent_preset *preset = program == NULL ? NULL : preset_of(name, program);

	return json_pack("{s:o,s:o,s:o,s:O?,s:O?,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name",
	    json_text(name), "program", json_text(program),
	    "preset", json_text(preset == NULL ? NULL : preset->name), "account", account, "reader",
	    of_agent(known, name, "reader"),
	    "env", env == NULL ? json_array() : json_incref((json_t *)env), "set", names_of(set),
	    "used_by", used_by(known, name),
	    "measured", json_text(preset == NULL ? NULL : preset->version), "node",
	    json_text(preset == NULL ? NULL : preset->node), "login",
	    words(preset == NULL ? NULL : preset->login),
	    "login_help", json_text(preset == NULL ? NULL : preset->login_help), "package",
	    json_text(preset == NULL ? NULL : preset->package), "caveat", json_text(caveat(command, set)));
}

json_t *doctor_agents(const struct config *config)
{
	json_t *known = json_object(), *list = json_array(), *value;
	struct config_error error;
	const char *path;

	(void)config_each(config, NULL, NULL, 0, keep, known, &error);
	json_object_foreach(known, path, value) {
		size_t length = strlen(path);
		char *name;

		if (length < sizeof("agent..command") || strncmp(path, "agent.", 6) != 0 ||
		    strcmp(path + length - 8, ".command") != 0)
			continue;
		name = xmemdup0(path + 6, length - 6 - 8);
		json_array_append_new(list, agent_document(known, name, value));
		free(name);
	}
	json_decref(known);
	return list;
}

/* An agent without an account has one of its own name. */
static bool pays(const json_t *agents, const char *account)
{
	const json_t *agent;
	size_t i;

	json_array_foreach((json_t *)agents, i, agent) {
		const char *own = json_string_value(json_object_get(agent, "account"));

		if (strcmp(own != NULL ? own : json_string_value(json_object_get(agent, "name")), account) == 0)
			return true;
	}
	return false;
}

void doctor_accounts(const struct config *config, const json_t *agents, struct doctor_checks *checks)
{
	size_t count;
	struct config_account *accounts = config_accounts(config, &count);

	for (size_t i = 0; i < count; i++) {
		if (!pays(agents, accounts[i].name))
			doctor_say(checks, "account", DOCTOR_WARNING,
			    "see rlctl cooldown list for the account of each agent; rename the "
			    "table, or set account in the table of an agent",
			    "no agent uses account %s: [account.%s] in rld.toml has no effect",
			    accounts[i].name, accounts[i].name);
	}
	free(accounts);
}
