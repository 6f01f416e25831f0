/* SPDX-License-Identifier: MIT */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/file.h"
#include "base/memory.h"
#include "config/toml.h"
#include "config/values.h"
#include "core/profile.h"
#include "proto/escape.h"

struct config {
	char *path;		/* NULL: there was no file */
	struct values values;
	char **agents;		/* names of presets, then of the other [agent.NAME] in order of the file */
};

int config_refuse(struct config_error *error, const char *field, const char *fmt, ...)
{
	va_list ap;
	char *text, *safe;
	size_t n;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1)
		abort();
	va_end(ap);
	safe = text_escape(text, strlen(text), false);
	n = strlen(safe);
	if (n >= sizeof(error->text)) {
		n = sizeof(error->text) - 1;
		while (n > 0 && ((unsigned char)safe[n] & 0xc0) == 0x80)	/* not inside a character */
			n--;
	}
	memcpy(error->text, safe, n);
	error->text[n] = '\0';
	snprintf(error->field, sizeof(error->field), "%s", field == NULL ? "" : field);
	free(safe);
	free(text);
	return -1;
}

const char *config_path(const struct config *config)
{
	return config->path;
}

const struct values *config_values(const struct config *config)
{
	return &config->values;
}

bool config_has_agent(const struct config *config, const char *name)
{
	for (size_t i = 0; config->agents[i] != NULL; i++) {
		if (strcmp(config->agents[i], name) == 0)
			return true;
	}
	return false;
}

int config_refuse_agent(const struct config *config, struct config_error *error, const char *field, const char *where, const char *name)
{
	struct buf names = { 0 };

	for (size_t i = 0; config->agents[i] != NULL; i++)
		buf_addf(&names, "%s%s", i == 0 ? "" : ", ", config->agents[i]);
	config_refuse(error, field, "%s: there is no agent '%s'; choose one of %s, or add an [agent.%s] with a command", where, name,
	    names.data == NULL ? "none" : names.data, name);
	buf_release(&names);
	return -1;
}

static int refuse_at(struct config_error *error, const struct config *config, struct toml_place at, const char *text)
{
	return config_refuse(error, NULL, "%s:%u:%u: %s", config->path, at.line, at.column, text);
}

static int refuse_unknown(struct config_error *error, const struct config *config, const struct toml_entry *entry)
{
	char *near = setting_near(entry->path);
	char *text;
	int rv;

	if (near != NULL)
		text = xasprintf("unknown key '%s'; did you mean '%s'?", entry->path, near);
	else
		text = xasprintf("unknown key '%s'; remove it, the keys are in rld.toml(5)", entry->path);
	rv = refuse_at(error, config, entry->key, text);
	free(text);
	free(near);
	return rv;
}

/* "'review.max_fixes' must be ..." */
static int refuse_value(struct config_error *error, const struct config *config, struct toml_place at, const char *path, char *why)
{
	char *text = xasprintf("'%s' %s", path, why);
	int rv = refuse_at(error, config, at, text);

	free(text);
	free(why);
	return rv;
}

/* The value of a SETTING_MAP, to which members are added; an empty table is one, too. */
static json_t *map_value(struct config *config, const char *path, const struct setting *setting, struct toml_place at)
{
	struct value *value = values_find(&config->values, path);

	if (value == NULL) {
		value = values_put(&config->values, path, setting, json_object());
		value->line = at.line;
		value->column = at.column;
	}
	return value->json;
}

static int take_table(struct config *config, const struct toml_entry *entry, struct config_error *error)
{
	static const char agent[] = "agent.";
	const char *name = entry->path + strlen(agent), *rest;
	const struct setting *setting;
	char *why;

	if (setting_is_table(entry->path)) {
		if (strncmp(entry->path, agent, strlen(agent)) != 0)
			return 0;
		if ((setting = setting_find(entry->path, NULL)) != NULL) {
			map_value(config, entry->path, setting, entry->key);
			return 0;
		}
		if (!setting_agent_name(name))
			return refuse_value(error, config, entry->key, entry->path,
			    xstrdup("is no name for an agent: use letters, digits, \"-\" and \"_\", at most 64"));
		if (!config_has_agent(config, name))
			strings_append(&config->agents, name);
		return 0;
	}
	setting = setting_find(entry->path, &rest);
	if (setting == NULL || !(setting->layers & LAYER_FILE))
		return refuse_unknown(error, config, entry);
	if (rest == NULL) {
		json_t *object = json_object();

		why = setting_refuse(setting, object);
		json_decref(object);
	} else {
		why = xstrdup("must be a string, is a table");
	}
	return refuse_value(error, config, entry->key, entry->path, why);
}

static int take_member(struct config *config, const struct toml_entry *entry, const struct setting *setting, const char *name,
    struct config_error *error)
{
	json_t *one = json_object();
	char *path = xmemdup0(entry->path, (size_t)(name - 1 - entry->path));
	char *why;

	json_object_set(one, name, entry->value);
	why = setting_refuse(setting, one);
	json_decref(one);
	if (why != NULL) {
		free(path);
		return refuse_value(error, config, entry->at, entry->path, why);
	}
	json_object_set(map_value(config, path, setting, entry->key), name, entry->value);
	free(path);
	return 0;
}

static int take_value(struct config *config, const struct toml_entry *entry, struct config_error *error)
{
	const char *rest;
	const struct setting *setting = setting_find(entry->path, &rest);
	struct value *value;
	char *why;

	if (setting == NULL && setting_is_table(entry->path)) {
		why = xasprintf("must be a table: write [%s] on a line of its own", entry->path);
		return refuse_value(error, config, entry->key, entry->path, why);
	}
	if (setting == NULL || !(setting->layers & LAYER_FILE))
		return refuse_unknown(error, config, entry);
	if (rest != NULL)
		return take_member(config, entry, setting, rest, error);
	why = setting_refuse(setting, entry->value);
	if (why != NULL)
		return refuse_value(error, config, entry->at, entry->path, why);
	value = values_put(&config->values, entry->path, setting, json_incref(entry->value));
	value->line = entry->at.line;
	value->column = entry->at.column;
	return 0;
}

/* What only the whole file shows: names of agents that are nowhere. */
static int check_agent_names(const struct config *config, struct config_error *error)
{
	for (size_t i = 0; i < config->values.count; i++) {
		const struct value *value = &config->values.list[i];
		char *where;

		if (value->setting->kind != SETTING_AGENT || config_has_agent(config, json_string_value(value->json)))
			continue;
		where = xasprintf("%s:%u:%u: '%s'", config->path, value->line, value->column, value->path);
		config_refuse_agent(config, error, NULL, where, json_string_value(value->json));
		free(where);
		return -1;
	}
	return 0;
}

/* An agent that is no preset must say what to start. */
static int check_command(const struct config *config, const struct toml_entry *entry, struct config_error *error)
{
	static const char agent[] = "agent.";
	char *command;
	bool named;

	if (entry->value != NULL || strncmp(entry->path, agent, strlen(agent)) != 0 || strchr(entry->path + strlen(agent), '.') != NULL)
		return 0;
	command = xasprintf("%s.command", entry->path);
	named = values_find(&config->values, command) != NULL;
	free(command);
	if (named || agent_preset_find(entry->path + strlen(agent)) != NULL)
		return 0;
	return refuse_value(error, config, entry->key, entry->path,
	    xstrdup("has no command and is no preset: add command = [\"program\", \"argument\"]"));
}

static struct config *config_new(void)
{
	struct config *config = xcalloc(1, sizeof(*config));

	config->agents = xcalloc(1, sizeof(*config->agents));
	for (const struct agent_preset *preset = agent_presets; preset->name != NULL; preset++)
		strings_append(&config->agents, preset->name);
	return config;
}

int config_parse(struct config **out, const char *name, const char *text, size_t size, struct config_error *error)
{
	struct config *config = config_new();
	struct toml_list toml;
	int rv;

	config->path = xstrdup(name);
	rv = toml_parse(text, size, &toml);
	if (rv == -1)
		refuse_at(error, config, toml.error_at, toml.error);
	for (size_t i = 0; rv == 0 && i < toml.count; i++)
		rv = (toml.entries[i].value == NULL ? take_table : take_value)(config, &toml.entries[i], error);
	for (size_t i = 0; rv == 0 && i < toml.count; i++)
		rv = check_command(config, &toml.entries[i], error);
	if (rv == 0)
		rv = check_agent_names(config, error);
	toml_release(&toml);
	if (rv == -1) {
		config_free(config);
		return -1;
	}
	*out = config;
	return 0;
}

int config_load(struct config **out, const char *path, bool explicit_path, struct config_error *error)
{
	char *real = NULL, *text = NULL;
	size_t size = 0;
	int rv;

	/* file_read() follows no link, but a config may be one */
	rv = path == NULL ? -ENOENT : (real = realpath(path, NULL)) == NULL ? -errno : file_read(AT_FDCWD, real, TOML_SIZE_MAX, &text, &size);
	free(real);
	if (rv == -ENOENT && !explicit_path) {
		*out = config_new();
		return 0;
	}
	if (rv == -EFBIG)
		return config_refuse(error, NULL, "%s: the file is longer than 32 KiB; no set of settings is, check what it holds", path);
	if (rv == -EINVAL)
		return config_refuse(error, NULL, "%s: is a directory or no regular file; name the file itself", path);
	if (rv < 0)
		return config_refuse(error, NULL, "%s: %s; check the path and its permissions", path == NULL ? "config" : path, strerror(-rv));
	rv = config_parse(out, path, text, size, error);
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
	free(config);
}

int64_t config_parallel(const struct config *config)
{
	json_t *json = layers_get(&(struct layers){ .config = config }, "parallel", NULL, NULL);
	int64_t parallel = json_integer_value(json);

	json_decref(json);
	return parallel;
}

/* The row's path for one agent: "agent.*.model" -> "agent.claude.model". */
static char *agent_path(const char *pattern, const char *agent)
{
	const char *star = strchr(pattern, '*');

	return xasprintf("%.*s%s%s", (int)(star - pattern), pattern, agent, star + 1);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **config_agent_env(const struct config *config)
{
	char **names = xcalloc(1, sizeof(*names));
	size_t count, kept = 0;

	for (size_t i = 0; config->agents[i] != NULL; i++) {
		char *path = agent_path("agent.*.env", config->agents[i]);
		json_t *env = layers_get(&(struct layers){ .config = config }, path, NULL, NULL);
		const json_t *name;
		size_t k;

		json_array_foreach(env, k, name)
			strings_append(&names, json_string_value(name));
		json_decref(env);
		free(path);
	}
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

static void tell(const struct layers *layers, const struct setting *setting, const char *path,
    void (*each)(void *, const char *, const char *, const char *, const char *), void *arg)
{
	char *from;
	json_t *json = layers_get(layers, path, &from, NULL);
	char *text = json == NULL ? xstrdup("null") : json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

	each(arg, path, text, from, setting->help);
	free(text);
	free(from);
	json_decref(json);
}

void config_each(const struct config *config, void (*each)(void *arg, const char *path, const char *value, const char *from, const char *help), void *arg)
{
	struct layers layers = { .config = config };
	json_t *profile = layers_get(&layers, "review.profile", NULL, NULL);

	layers.profile = profile_find(json_string_value(profile));
	json_decref(profile);
	for (size_t i = 0; i < settings_count; i++) {
		if (!(settings[i].layers & LAYER_FILE))
			continue;
		if (strchr(settings[i].path, '*') == NULL)
			tell(&layers, &settings[i], settings[i].path, each, arg);
		for (size_t k = 0; strchr(settings[i].path, '*') != NULL && config->agents[k] != NULL; k++) {
			char *path = agent_path(settings[i].path, config->agents[k]);

			tell(&layers, &settings[i], path, each, arg);
			free(path);
		}
	}
}
