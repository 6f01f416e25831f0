/* SPDX-License-Identifier: MIT */
#include "config/reading.h"
#include "config/setting_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"
#include "proto/escape.h"
#include "proto/memory.h"

int config_refuse(struct config_error *error, const char *field, const char *fmt, ...)
{
	va_list ap;
	char *text, *safe;
	size_t n;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	redact_string(NULL, &text);	/* a mistake may be a secret in the wrong place */
	safe = text_escape(text, strlen(text), false);
	n = strlen(safe);
	if (n >= sizeof(error->text)) {
		n = sizeof(error->text) - 1;
		/* not in the middle of a character */
		while (n > 0 && ((unsigned char)safe[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(error->text, safe, n);
	error->text[n] = '\0';
	snprintf(error->field, sizeof(error->field), "%s", field == NULL ? "" : field);
	free(safe);
	free(text);
	return -1;
}

static int refuse_at(const struct reading *r, struct toml_place at, char *text)
{
	config_refuse(r->error, r->field, "%s:%u:%u: %s", r->file, at.line, at.column, text);
	free(text);
	return -1;
}

int reading_refuse(const struct reading *r, unsigned line, unsigned column, const char *path, char *why)
{
	refuse_at(r, (struct toml_place){ line, column }, xasprintf("'%s' %s", path, why));
	free(why);
	return -1;
}

static int refuse_value(const struct reading *r, struct toml_place at, const char *path, char *why)
{
	return reading_refuse(r, at.line, at.column, path, why);
}

static int refuse_unknown(const struct reading *r, const struct toml_entry *entry)
{
	char *near;

	/* [agent.x] is a table of rld.toml, and agent.x.model a key */
	if (r->layer == LAYER_PROJECT && (setting_is_table(entry->path,
	    LAYER_FILE) || setting_of_file(entry->path, LAYER_FILE, NULL) != NULL))
		return refuse_at(r, entry->key,
		    xasprintf("'%s' is only allowed in rld.toml; a project file may have [run] and "
		    "[review], but no agents and no permissions", entry->path));
	near = setting_near(entry->path, r->layer);
	refuse_at(r, entry->key, near != NULL ? xasprintf("unknown key '%s'; did you mean '%s'?", entry->path, near) :
	    xasprintf("unknown key '%s'; remove it, or see rld.toml(5) for the keys", entry->path));
	free(near);
	return -1;
}

/* The value of a SCHEMA_MAP, to which members are added; an empty table counts, too. */
static json_t *map_value(struct reading *r, const char *path, const struct setting *setting, struct toml_place at)
{
	struct value *value = values_find(&r->values, path);

	if (value == NULL) {
		value = values_put(&r->values, path, setting, json_object());
		value->line = at.line;
		value->column = at.column;
	}
	return value->json;
}

/* [agent.NAME], [account.NAME], [profile.NAME], [group.NAME] or [launcher.NAME] */
static int take_named(struct reading *r, const struct toml_entry *entry, const char *name)
{
	struct value *table;

	if (!setting_table_name(name))
		return refuse_value(r, entry->key, entry->path,
		    xasprintf("is not a valid name for %s: use letters, digits, \"-\" and \"_\", "
		        "at most 64",
		    strncmp(entry->path, "account.", strlen("account.")) == 0 ? "an account" :
		    entry->path[0] == 'a' ? "an agent" : entry->path[0] == 'p' ? "a profile" :
		    entry->path[0] == 'l' ? "a launcher" : "a group"));
	table = values_put(&r->tables, entry->path, NULL, NULL);
	table->line = entry->key.line;
	table->column = entry->key.column;
	return 0;
}

/* [agent.NAME] is one of many, [limits.review] the only one. */
static bool is_named(const struct reading *r, const char *path)
{
	char *any = xasprintf("%.*s.*", (int)strcspn(path, "."), path);
	bool named = setting_is_table(any, r->layer);

	free(any);
	return named;
}

static int take_table(struct reading *r, const struct toml_entry *entry)
{
	const char *dot = strchr(entry->path, '.'), *rest;
	const struct setting *setting;
	json_t *object;
	char *why;

	if (setting_is_table(entry->path, r->layer)) {
		if ((setting = setting_find(entry->path, NULL)) != NULL)
			map_value(r, entry->path, setting, entry->key);
		else if (dot != NULL && is_named(r, entry->path))
			return take_named(r, entry, dot + 1);
		return 0;
	}
	setting = setting_of_file(entry->path, r->layer, &rest);
	if (setting == NULL)
		return refuse_unknown(r, entry);
	if (rest != NULL)
		return refuse_value(r, entry->key, entry->path, xstrdup("must be a string, is a table"));
	object = json_object();
	why = setting_refuse(setting, object);
	json_decref(object);
	return refuse_value(r, entry->key, entry->path, why);
}

static int take_member(struct reading *r, const struct toml_entry *entry,
    const struct setting *setting, const char *name)
{
	json_t *one = json_object();
	char *path = xmemdup0(entry->path, (size_t)(name - 1 - entry->path));
	char *why;

	json_object_set(one, name, entry->value);
	why = setting_refuse(setting, one);
	json_decref(one);
	if (why == NULL)
		json_object_set(map_value(r, path, setting, entry->key), name, entry->value);
	free(path);
	return why == NULL ? 0 : refuse_value(r, entry->at, entry->path, why);
}

/* Make a path in a project's file relative to the project. New reference. */
static json_t *from_base(const struct reading *r, const struct setting *setting, json_t *value)
{
	const char *text = json_string_value(value);
	bool path = setting->is.rule == &rule_file ||
	    (setting->is.rule == &rule_file_or_none && text != NULL && strcmp(text, "none") != 0) ||
	    (setting->is.rule == &rule_program && text != NULL && strchr(text, '/') != NULL);

	if (r->base == NULL || !path || text == NULL || text[0] == '\0' || text[0] == '/' ||
	    strlen(text) != json_string_length(value))
		return json_incref(value);
	return json_sprintf("%s/%s", r->base, text);
}

static int take_value(struct reading *r, const struct toml_entry *entry)
{
	const char *rest, *path = entry->path;
	const struct setting *setting;
	struct value *value;
	json_t *json;
	char *why;

	for (const struct alias *alias = r->aliases; alias != NULL && alias->name != NULL; alias++) {
		if (strcmp(alias->name, entry->path) == 0)
			path = alias->path;
	}
	setting = setting_of_file(path, r->layer, &rest);
	if (setting == NULL && setting_is_table(path, r->layer))
		return refuse_value(r, entry->key, path,
		    xasprintf("must be a table: write [%s] on its own line", path));
	if (setting == NULL)
		return refuse_unknown(r, entry);
	if (rest != NULL)
		return take_member(r, entry, setting, rest);
	json = from_base(r, setting, entry->value);
	why = setting_refuse(setting, json);
	/* a repository must not name places outside itself */
	if (why == NULL && r->layer == LAYER_PROJECT && setting->is.rule == &rule_directory &&
	    json_string_value(json)[0] == '/')
		why = xstrdup("must be a path below the working directory");
	if (why == NULL && (value = values_find(&r->values, path)) != NULL)
		why = xasprintf("repeats line %u: remove one of them", value->line);
	if (why != NULL) {
		json_decref(json);
		return refuse_value(r, entry->at, entry->path, why);
	}
	value = values_put(&r->values, path, setting, json);
	value->line = entry->at.line;
	value->column = entry->at.column;
	return 0;
}

int reading_take(struct reading *r, const char *text, size_t size)
{
	struct toml_list toml;
	int rv = toml_parse(text, size, &toml);

	if (rv == -1)
		refuse_at(r, toml.error_at, xstrdup(toml.error));
	for (size_t i = 0; rv == 0 && i < toml.count; i++)
		rv = (toml.entries[i].value == NULL ? take_table : take_value)(r, &toml.entries[i]);
	toml_release(&toml);
	return rv;
}

void reading_release(struct reading *r)
{
	values_release(&r->values);
	values_release(&r->tables);
}
