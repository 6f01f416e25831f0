/* SPDX-License-Identifier: MIT */
#include "config/config_int.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "agent/launcher.h"
#include "config/layers.h"
#include "config/resolved.h"
#include "config/setting_rules.h"
#include "core/profile.h"
#include "core/row.h"
#include "proto/memory.h"
#include "proto/near.h"

struct config *config_new(void)
{
	struct config *config = xcalloc(1, sizeof(*config));

	for (const struct agent_preset *preset = agent_presets; preset->name != NULL; preset++)
		strings_append(&config->agents, preset->name);
	for (int i = 0; i < profiles_count; i++)
		strings_append(&config->profiles, profiles[i].name);
	strings_append(&config->groups, GROUP_DEFAULT);
	config->accounts = xcalloc(1, sizeof(*config->accounts));
	strings_append(&config->launchers, LAUNCHER_LOCAL);
	for (const struct launcher_preset *preset = launcher_presets; preset->name != NULL; preset++)
		strings_append(&config->launchers, preset->name);
	config->resolved = resolved_new();
	return config;
}

void config_free(struct config *config)
{
	if (config == NULL)
		return;
	free(config->path);
	values_release(&config->values);
	strings_free(config->agents);
	strings_free(config->profiles);
	strings_free(config->groups);
	strings_free(config->accounts);
	strings_free(config->launchers);
	strings_free(config->agent_env);
	resolved_free(config->resolved);
	free(config);
}

const char *config_path(const struct config *config)
{
	return config->path;
}

struct config_stamp config_stamp(const struct config *config)
{
	return config->stamp;
}

struct config_stamp config_stamp_of(const char *path)
{
	struct stat st;

	if (path == NULL || stat(path, &st) == -1)
		return (struct config_stamp){ 0 };
	return (struct config_stamp){ true, (int64_t)st.st_dev, (int64_t)st.st_ino, (int64_t)st.st_size,
		(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec };
}

bool config_stamp_equal(const struct config_stamp *a, const struct config_stamp *b)
{
	return a->there == b->there && a->device == b->device && a->inode == b->inode &&
	    a->size == b->size && a->changed_ns == b->changed_ns;
}

const struct values *config_values(const struct config *config)
{
	return &config->values;
}

struct resolved *config_resolved(const struct config *config)
{
	return config->resolved;
}

char *const *config_agents(const struct config *config)
{
	return config->agents;
}

char *const *config_account_names(const struct config *config)
{
	return config->accounts;
}

char *const *config_group_names(const struct config *config)
{
	return config->groups;
}

char *const *config_launcher_names(const struct config *config)
{
	return config->launchers + 1;
}

/* What names in settings may be names of. */
static const struct {
	const struct schema_rule *rule;
	size_t names;		/* list of the known ones in struct config */
	const char *what, *needs;
} known_names[] = {
	{ &rule_agent, offsetof(struct config, agents), "agent", "with a command" },
	{ &rule_profile, offsetof(struct config, profiles), "profile", "that extends one" },
	{ &rule_launcher, offsetof(struct config, launchers), "launcher", "with a command" },
};

static int check_name(const struct config *config, size_t kind, const char *name, const char *field,
    const char *where, struct config_error *error)
{
	char *const *known = *(char **const *)(const void *)((const char *)config + known_names[kind].names);
	struct near near = { .word = name };
	struct buf names = { 0 };

	if (strings_contain(known, name))
		return 0;
	for (size_t i = 0; known[i] != NULL; i++)
		near_offer(&near, known[i]);
	if (near.best != NULL)
		buf_addf(&names, "did you mean '%s'? Choose", near.best);
	else
		buf_adds(&names, "choose");
	for (size_t i = 0; known[i] != NULL; i++)
		buf_addf(&names, "%s%s", i == 0 ? " one of " : ", ", known[i]);
	config_refuse(error, field, "%s: unknown %s '%s'; %s, or add [%s.%s] %s to rld.toml", where,
	    known_names[kind].what, name, names.data, known_names[kind].what, name, known_names[kind].needs);
	buf_release(&names);
	return -1;
}

int config_check_name(const struct config *config, const struct setting *setting,
    const json_t *value, const char *field, const char *where, struct config_error *error)
{
	const json_t *name;
	size_t i, kind = 0;

	while (kind < sizeof(known_names) / sizeof(known_names[0]) && known_names[kind].rule != setting->is.rule)
		kind++;
	if (kind == sizeof(known_names) / sizeof(known_names[0]))
		return 0;
	if (setting->is.kind == SCHEMA_TEXT)
		return check_name(config, kind, json_string_value(value), field, where, error);
	json_array_foreach(value, i, name) {
		if (check_name(config, kind, json_string_value(name), field, where, error) == -1)
			return -1;
	}
	return 0;
}

const char *config_extends(const struct config *config, const char *profile)
{
	char *path = xasprintf("profile.%s.extends", profile);
	const struct value *value = values_find(&config->values, path);

	free(path);
	return value == NULL ? NULL : json_string_value(value->json);
}

const struct profile *config_profile(const struct config *config, const char *name)
{
	const struct profile *builtin = NULL;

	while (name != NULL && (builtin = profile_find(name)) == NULL)
		name = config_extends(config, name);
	return builtin;
}

const struct launcher_preset *config_launcher_preset(const struct config *config, const char *name)
{
	char *path = xasprintf("launcher.%s.preset", name);
	const struct value *value = values_find(&config->values, path);

	free(path);
	return launcher_preset_find(value != NULL ? json_string_value(value->json) : name);
}

bool config_group_name(const char *name)
{
	return setting_table_name(name);
}

char *const *config_agent_env(const struct config *config)
{
	return config->agent_env;
}
