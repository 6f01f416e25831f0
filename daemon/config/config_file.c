/* SPDX-License-Identifier: MIT */
/* Reads rld.toml into a struct config. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/launcher.h"
#include "base/file.h"
#include "config/config_int.h"
#include "config/layers.h"
#include "core/plan_words.h"
#include "core/profile.h"
#include "core/row.h"
#include "proto/memory.h"
#include "proto/state_names.h"

/* The kinds of named tables; needs: the key they cannot do without. */
enum named { NAMED_AGENT, NAMED_PROFILE, NAMED_GROUP, NAMED_ACCOUNT, NAMED_LAUNCHER, NAMED_KINDS };

static const struct { const char *head, *needs; } named[NAMED_KINDS] = {
	[NAMED_AGENT] = { "agent.", "command" },
	[NAMED_PROFILE] = { "profile.", "extends" },
	[NAMED_GROUP] = { "group.", "slots" },
	[NAMED_ACCOUNT] = { "account.", "cooldown_max" },
	[NAMED_LAUNCHER] = { "launcher.", "command" },
};

static enum named named_kind(const struct value *table)
{
	enum named kind = NAMED_AGENT;

	while (strncmp(table->path, named[kind].head, strlen(named[kind].head)) != 0)
		kind++;
	return kind;
}

/* Collect the names of agents, profiles, groups, accounts and launchers. */
static int take_tables(struct config *config, const struct reading *r)
{
	for (size_t i = 0; i < r->tables.count; i++) {
		const struct value *table = &r->tables.list[i];
		const char *name = setting_key(table->path);
		char ***const lists[NAMED_KINDS] = { &config->agents, &config->profiles,
		    &config->groups, &config->accounts, &config->launchers };
		enum named kind = named_kind(table);
		char ***names = lists[kind];

		if (kind == NAMED_PROFILE && profile_find(name) != NULL)
			return reading_refuse(r, table->line, table->column, table->path,
			    xasprintf("is a built-in profile: choose another name and add extends "
			        "= \"%s\"", name));
		if (kind == NAMED_LAUNCHER && strcmp(name, LAUNCHER_LOCAL) == 0)
			return reading_refuse(r, table->line, table->column, table->path,
			    xstrdup("means no launcher: choose another name"));
		if (!strings_contain(*names, name))
			strings_append(names, name);
	}
	return 0;
}

static bool has_cancel(const struct config *config, const struct value *table)
{
	char *path = xasprintf("%s.cancel", table->path);
	bool has = values_find(&config->values, path) != NULL;

	free(path);
	return has;
}

/* Whether a word of its command, or of its options, has "{node}". */
static bool names_node(const struct config *config, const struct value *table, const char *key)
{
	struct layers layers = { .config = config };
	char *path = xasprintf("%s.%s", table->path, key);
	json_t *value = layers_get(&layers, path, NULL);
	char **words = plan_words(value);
	bool found = launcher_names(words, "{node}");

	free(path);
	strings_free(words);
	json_decref(value);
	return found;
}

/* A list of machines is one of different ones, and of use only if one of them is named. */
static int check_hosts(const struct config *config, const struct reading *r, const struct value *table)
{
	char *path = xasprintf("%s.hosts", table->path);
	const struct value *hosts = values_find(&config->values, path);
	bool used = names_node(config, table, "command") || names_node(config, table, "options");
	json_t *host, *other;
	size_t i, n;

	free(path);
	if (hosts == NULL || json_array_size(hosts->json) == 0)
		return !used ? 0 : reading_refuse(r, table->line, table->column, table->path,
		    xstrdup("names {node} and has no hosts: add hosts = [{ name = \"n1\", slots = 4 }]"));
	if (!used)
		return reading_refuse(r, hosts->line, hosts->column, hosts->path,
		    xstrdup("is a list of machines, and command does not name {node}, which is one of them"));
	json_array_foreach(hosts->json, i, host)
		for (n = 0; n < i; n++) {
			other = json_array_get(hosts->json, n);
			if (json_equal(json_object_get(host, "name"), json_object_get(other, "name")))
				return reading_refuse(r, hosts->line, hosts->column, hosts->path, xasprintf(
				    "names %s twice", json_string_value(json_object_get(host, "name"))));
		}
	return 0;
}

/* What takes files to a machine, and back, is executed there as the script is that starts an
 * agent. */
static int check_files(const struct config *config, const struct reading *r, const struct value *table)
{
	struct layers layers = { .config = config };
	char *files_path = xasprintf("%s.files", table->path), *path = xasprintf("%s.command", table->path);
	const struct value *files = values_find(&config->values, files_path);
	json_t *value = layers_get(&layers, path, NULL);
	char **words = plan_words(value);
	bool fits = files == NULL || launcher_is_shell(words) || strcmp(json_string_value(files->json),
	    state_name(&launcher_files_names, LAUNCHER_COPIED)) != 0;

	free(files_path);
	free(path);
	strings_free(words);
	json_decref(value);
	return fits ? 0 : reading_refuse(r, files->line, files->column, files->path, xstrdup(
	    "needs a command like that of ssh, whose last word is \"sh {start}\" and whose other words execute "
	    "any command line on the machine; otherwise choose \"shared\""));
}

/* An agent that is not a preset needs a command, a profile must extend a built-in one, perhaps
 * indirectly, and a group needs slots. */
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
			    xstrdup("has no command and is not a preset: add command = "
			        "[\"program\", \"argument\"]"));
		if (value == NULL && kind == NAMED_PROFILE)
			return reading_refuse(r, table->line, table->column, table->path,
			    xstrdup("does not extend a profile: add extends = \"verdict\""));
		if (value == NULL && kind == NAMED_GROUP && strcmp(name, GROUP_DEFAULT) != 0)
			return reading_refuse(r, table->line, table->column, table->path,
			    xstrdup("has no limit: add slots = 4"));
		if (kind == NAMED_LAUNCHER && config_launcher_preset(config, name) == NULL &&
		    (value == NULL || !has_cancel(config, table)))
			return reading_refuse(r, table->line, table->column, table->path,
			    xstrdup("needs a command, and one that ends what it has placed: add "
			        "command = [\"program\"] and cancel = [\"program\"]"));
		if (kind == NAMED_LAUNCHER && (check_hosts(config, r, table) == -1 ||
		    check_files(config, r, table) == -1))
			return -1;
		for (size_t steps = 0; kind == NAMED_PROFILE && at != NULL &&
		    profile_find(at) == NULL; at = config_extends(config, at)) {
			if (steps++ > r->tables.count)
				return reading_refuse(r, value->line, value->column, value->path,
				    xstrdup("extends itself in a cycle: make one of these profiles "
				        "extend a built-in one"));
		}
	}
	return 0;
}

/* Checks that need the whole file: unknown names of agents and profiles. */
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
	config->agent_env = config_collect_env(config);
	*out = config;
	return 0;
}

int config_load(struct config **out, const char *path, bool explicit_path, struct config_error *error)
{
	struct config_stamp stamp = config_stamp_of(path);
	char *real = NULL, *text = NULL;
	size_t size = 0;
	int rv;

	/* file_read() does not follow links, but a settings file may be one */
	rv = path == NULL ? -ENOENT : (real = realpath(path, NULL)) == NULL ? -errno :
	    file_read(AT_FDCWD, real, TOML_SIZE_MAX, &text, &size);
	free(real);
	if (rv == -ENOENT && !explicit_path) {
		*out = config_new();
		(*out)->agent_env = config_collect_env(*out);
		return 0;
	}
	if (rv == -EFBIG)
		return config_refuse(error, NULL,
		    "%s: the file is longer than 32 KiB, too long for a settings file; check that "
		    "it is the right file", path);
	if (rv == -EINVAL)
		return config_refuse(error, NULL,
		    "%s: is not a regular file; name the file itself", path);
	if (rv < 0)
		return config_refuse(error, NULL, "%s: %s; check the path and its permissions",
		    path == NULL ? "config" : path, strerror(-rv));
	rv = config_parse(out, path, text, size, error);
	if (rv == 0)
		(*out)->stamp = stamp;
	free(text);
	return rv;
}
