/* SPDX-License-Identifier: MIT */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "base/file.h"
#include "base/memory.h"
#include "config/layers.h"
#include "core/profile.h"
#include "core/row.h"

struct config {
	char *path;		/* NULL: there was no file */
	struct config_stamp stamp;
	struct values values;
	char **agents;		/* names of presets, then of the other [agent.NAME] in order of the file */
	char **profiles;	/* the same of profiles */
	char **groups;		/* "default", then the others of the file */
	char **accounts;	/* those of the file */
	char **agent_env;	/* see config_agent_env() */
};

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
	return a->there == b->there && a->device == b->device && a->inode == b->inode && a->size == b->size && a->changed_ns == b->changed_ns;
}

const struct values *config_values(const struct config *config)
{
	return &config->values;
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

static int check_name(const struct config *config, bool agent, const char *name, const char *field, const char *where, struct config_error *error)
{
	char *const *known = agent ? config->agents : config->profiles;
	struct buf names = { 0 };

	if (strings_contain(known, name))
		return 0;
	for (size_t i = 0; known[i] != NULL; i++)
		buf_addf(&names, "%s%s", i == 0 ? "" : ", ", known[i]);
	if (agent)
		config_refuse(error, field, "%s: there is no agent '%s'; choose one of %s, or add an [agent.%s] with a command to rld.toml", where, name,
		    names.data, name);
	else
		config_refuse(error, field, "%s: there is no profile '%s'; choose one of %s, or add a [profile.%s] that extends one to rld.toml", where, name,
		    names.data, name);
	buf_release(&names);
	return -1;
}

int config_check_name(const struct config *config, const struct setting *setting, const json_t *value, const char *field, const char *where,
    struct config_error *error)
{
	const json_t *name;
	size_t i;

	if (setting->kind == SETTING_AGENT || setting->kind == SETTING_PROFILE)
		return check_name(config, setting->kind == SETTING_AGENT, json_string_value(value), field, where, error);
	if (setting->kind != SETTING_AGENTS)
		return 0;
	json_array_foreach(value, i, name) {
		if (check_name(config, true, json_string_value(name), field, where, error) == -1)
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

/* The tables that have names, and what each of them has to say; needs: the key that stands for all else. */
enum named { NAMED_AGENT, NAMED_PROFILE, NAMED_GROUP, NAMED_ACCOUNT, NAMED_KINDS };

static const struct { const char *head, *needs; } named[NAMED_KINDS] = {
	[NAMED_AGENT] = { "agent.", "command" },
	[NAMED_PROFILE] = { "profile.", "extends" },
	[NAMED_GROUP] = { "group.", "slots" },
	[NAMED_ACCOUNT] = { "account.", "cooldown_max" },
};

static enum named named_kind(const struct value *table)
{
	enum named kind = NAMED_AGENT;

	while (strncmp(table->path, named[kind].head, strlen(named[kind].head)) != 0)
		kind++;
	return kind;
}

/* The names that tables give to agents, profiles, groups and accounts. */
static int take_tables(struct config *config, const struct reading *r)
{
	for (size_t i = 0; i < r->tables.count; i++) {
		const struct value *table = &r->tables.list[i];
		const char *name = setting_key(table->path);
		char ***const lists[NAMED_KINDS] = { &config->agents, &config->profiles, &config->groups, &config->accounts };
		enum named kind = named_kind(table);
		char ***names = lists[kind];

		if (kind == NAMED_PROFILE && profile_find(name) != NULL)
			return reading_refuse(r, table->line, table->column, table->path,
			    xasprintf("is built in: choose another name, and write extends = \"%s\" below it", name));
		if (!strings_contain(*names, name))
			strings_append(names, name);
	}
	return 0;
}

/* An agent that is no preset must say what to start, a profile what it extends, in the end a built-in one, a group how many slots it has. */
static int check_tables(const struct config *config, const struct reading *r)
{
	for (size_t i = 0; i < r->tables.count; i++) {
		const struct value *table = &r->tables.list[i], *value;
		const char *name = setting_key(table->path), *at = name;
		enum named kind = named_kind(table);
		char *path = xasprintf("%s.%s", table->path, named[kind].needs);

		value = values_find(&config->values, path);
		free(path);
		if (value == NULL && kind == NAMED_AGENT && agent_preset_find(name) == NULL)
			return reading_refuse(r, table->line, table->column, table->path,
			    xstrdup("has no command and is no preset: add command = [\"program\", \"argument\"]"));
		if (value == NULL && kind == NAMED_PROFILE)
			return reading_refuse(r, table->line, table->column, table->path, xstrdup("extends nothing: add extends = \"verdict\""));
		if (value == NULL && kind == NAMED_GROUP && strcmp(name, GROUP_DEFAULT) != 0)
			return reading_refuse(r, table->line, table->column, table->path, xstrdup("limits nothing: add slots = 4"));
		for (size_t steps = 0; kind == NAMED_PROFILE && at != NULL && profile_find(at) == NULL; at = config_extends(config, at)) {
			if (steps++ > r->tables.count)
				return reading_refuse(r, value->line, value->column, value->path,
				    xstrdup("leads into a cycle: in the end a profile extends a built-in one"));
		}
	}
	return 0;
}

/* What only the whole file shows: names of agents and profiles that are nowhere. */
static int check_names(const struct config *config, const struct reading *r)
{
	int rv = 0;

	for (size_t i = 0; i < config->values.count && rv == 0; i++) {
		const struct value *value = &config->values.list[i];
		char *where = xasprintf("%s:%u:%u: '%s'", config->path, value->line, value->column, value->path);

		rv = config_check_name(config, value->setting, value->json, NULL, where, r->error);
		free(where);
	}
	return rv;
}

static struct config *config_new(void)
{
	struct config *config = xcalloc(1, sizeof(*config));

	for (const struct agent_preset *preset = agent_presets; preset->name != NULL; preset++)
		strings_append(&config->agents, preset->name);
	for (int i = 0; i < profiles_count; i++)
		strings_append(&config->profiles, profiles[i].name);
	strings_append(&config->groups, GROUP_DEFAULT);
	config->accounts = xcalloc(1, sizeof(*config->accounts));
	return config;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of [review], and of every profile: which one a run will have is not known. */
static void add_review_env(const struct config *config, char ***names)
{
	const struct setting *setting = setting_find("review.env", NULL);
	const struct values *values = config_values(config);
	const json_t *name;
	size_t k;

	for (size_t i = 0; i < values->count; i++) {
		if (values->list[i].setting != setting)
			continue;
		json_array_foreach(values->list[i].json, k, name)
			strings_append(names, json_string_value(name));
	}
}

static char **collect_agent_env(const struct config *config)
{
	char **names = xcalloc(1, sizeof(*names));
	size_t count, kept = 0;

	for (size_t i = 0; config->agents[i] != NULL; i++) {
		char *path = xasprintf("agent.%s.env", config->agents[i]);
		json_t *env = layers_get(&(struct layers){ .config = config }, path, NULL);
		const json_t *name;
		size_t k;

		json_array_foreach(env, k, name)
			strings_append(&names, json_string_value(name));
		json_decref(env);
		free(path);
	}
	add_review_env(config, &names);
	count = strings_count(names);
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && strcmp(names[kept - 1], names[i]) == 0)
			free(names[i]);
		else
			names[kept++] = names[i];
	}
	names[kept] = NULL;
	return names;
}

int config_parse(struct config **out, const char *name, const char *text, size_t size, struct config_error *error)
{
	struct config *config = config_new();
	struct reading reading = { .file = name, .layer = LAYER_FILE, .error = error };
	int rv = reading_take(&reading, text, size);

	config->path = xstrdup(name);
	config->values = reading.values;
	reading.values = (struct values){ 0 };
	if (rv == 0)
		rv = take_tables(config, &reading);
	if (rv == 0)
		rv = check_names(config, &reading);
	if (rv == 0)
		rv = check_tables(config, &reading);
	reading_release(&reading);
	if (rv == -1) {
		config_free(config);
		return -1;
	}
	config->agent_env = collect_agent_env(config);
	*out = config;
	return 0;
}

int config_load(struct config **out, const char *path, bool explicit_path, struct config_error *error)
{
	struct config_stamp stamp = config_stamp_of(path);
	char *real = NULL, *text = NULL;
	size_t size = 0;
	int rv;

	/* file_read() follows no link, but a config may be one */
	rv = path == NULL ? -ENOENT : (real = realpath(path, NULL)) == NULL ? -errno : file_read(AT_FDCWD, real, TOML_SIZE_MAX, &text, &size);
	free(real);
	if (rv == -ENOENT && !explicit_path) {
		*out = config_new();
		(*out)->agent_env = collect_agent_env(*out);
		return 0;
	}
	if (rv == -EFBIG)
		return config_refuse(error, NULL, "%s: the file is longer than 32 KiB; no set of settings is, check what it holds", path);
	if (rv == -EINVAL)
		return config_refuse(error, NULL, "%s: is a directory or no regular file; name the file itself", path);
	if (rv < 0)
		return config_refuse(error, NULL, "%s: %s; check the path and its permissions", path == NULL ? "config" : path, strerror(-rv));
	rv = config_parse(out, path, text, size, error);
	if (rv == 0)
		(*out)->stamp = stamp;
	free(text);
	return rv;
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
	strings_free(config->agent_env);
	free(config);
}

int64_t config_parallel(const struct config *config)
{
	json_t *json = layers_get(&(struct layers){ .config = config }, "parallel", NULL);
	int64_t parallel = json_integer_value(json);

	json_decref(json);
	return parallel;
}

void config_groups(const struct config *config, char ***names, int64_t **slots)
{
	*names = strings_copy(config->groups);
	*slots = xcalloc(strings_count(config->groups), sizeof(**slots));
	for (size_t i = 0; config->groups[i] != NULL; i++) {
		char *path = xasprintf("group.%s.slots", config->groups[i]);
		json_t *json = layers_get(&(struct layers){ .config = config }, path, NULL);

		(*slots)[i] = json_integer_value(json);
		json_decref(json);
		free(path);
	}
}

/* New reference, NULL when it is unset. */
static json_t *get_of_account(const struct config *config, const char *name, const char *key, const struct setting **setting)
{
	char *path = xasprintf("account.%s.%s", name, key);
	json_t *json = layers_get(&(struct layers){ .config = config }, path, NULL);

	*setting = setting_find(path, NULL);
	free(path);
	return json;
}

/* ROW_NONE when it is unset. */
static int64_t number_of_account(const struct config *config, const char *name, const char *key)
{
	const struct setting *setting;
	json_t *json = get_of_account(config, name, key, &setting);
	int64_t number = json != NULL ? setting_number(setting, json) : ROW_NONE;

	json_decref(json);
	return number;
}

struct config_account *config_accounts(const struct config *config, size_t *count)
{
	struct config_account *accounts;

	*count = strings_count(config->accounts);
	accounts = xcalloc(*count, sizeof(*accounts));
	for (size_t i = 0; i < *count; i++) {
		const char *name = config->accounts[i];
		const struct setting *setting;
		json_t *usd = get_of_account(config, name, "budget_day_usd", &setting);

		accounts[i] = (struct config_account){
			.name = name,
			.cooldown_max_ms = number_of_account(config, name, "cooldown_max"),
			.budget_day_usd = usd != NULL ? setting_money(usd) : (double)NAN,
			.budget_day_tokens = number_of_account(config, name, "budget_day_tokens"),
			.budget_day_wall_ms = number_of_account(config, name, "budget_day_wall"),
		};
		json_decref(usd);
	}
	return accounts;
}

bool config_group_name(const char *name)
{
	return setting_table_name(name);
}

char *const *config_agent_env(const struct config *config)
{
	return config->agent_env;
}

char *config_agent_set(const struct config *config, const char *agent, const char *name)
{
	char *path = xasprintf("agent.%s.set", agent), *value = NULL;
	json_t *set = NULL;

	if (strings_contain(config->agents, agent))
		set = layers_get(&(struct layers){ .config = config }, path, NULL);
	value = xstrdup(json_string_value(json_object_get(set, name)));
	json_decref(set);
	free(path);
	return value;
}
