/* SPDX-License-Identifier: MIT */
#include "config/layers.h"
#include "config/setting_rules.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/launcher.h"
#include "core/profile.h"
#include "proto/memory.h"

static json_t *words_json(const char *const *words)
{
	json_t *array = json_array();

	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		json_array_append_new(array, json_string(words[i]));
	return array;
}

/* "K=V" words as an object */
static json_t *map_json(const char *const *words)
{
	json_t *map = json_object();

	for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
		const char *equals = strchr(words[i], '=');
		char *name = xmemdup0(words[i], (size_t)(equals - words[i]));

		json_object_set_new(map, name, json_string(equals + 1));
		free(name);
	}
	return map;
}

/* A preset's value of "agent.NAME.key"; NULL: none. */
static json_t *preset_json(const char *path)
{
	const char *name = path + strlen("agent."), *key = setting_key(path);
	char *copy = xmemdup0(name, (size_t)(key - 1 - name));
	const struct agent_preset *preset = agent_preset_find(copy);

	free(copy);
	if (preset == NULL)
		return NULL;
	if (strcmp(key, "command") == 0)
		return words_json(preset->command);
	if (strcmp(key, "review") == 0)
		return words_json(preset->review);
	if (strcmp(key, "prompt") == 0)
		return json_string(state_name(&prompt_via_names, (int)preset->prompt));
	if (strcmp(key, "reader") == 0)
		return json_string(state_name(&reader_names, (int)preset->reader));
	if (strcmp(key, "env") == 0)
		return words_json(preset->env);
	if (strcmp(key, "set") == 0)
		return map_json(preset->set);
	if (strcmp(key, "resume") == 0)
		return words_json(preset->resume);
	if (strcmp(key, "writable") == 0)
		return words_json(preset->writable);
	if (strcmp(key, "account") == 0)
		return json_string(preset->account);
	return NULL;
}

/* Likewise of "launcher.NAME.key". */
static json_t *launcher_json(const struct config *config, const char *path)
{
	const char *name = path + strlen("launcher."), *key = setting_key(path);
	char *copy = xmemdup0(name, (size_t)(key - 1 - name));
	const struct launcher_preset *preset = config_launcher_preset(config, copy);
	const char *const *words = preset == NULL ? NULL : strcmp(key, "command") == 0 ? preset->command :
	    strcmp(key, "cancel") == 0 ? preset->cancel : NULL;

	free(copy);
	return words != NULL ? words_json(words) : NULL;
}

/* The value in the file. Each key of an agent's table is a setting: keys of a preset that are not
 * overridden stay. */
static json_t *file_json(const struct value *value)
{
	json_t *json;

	if (value->setting->is.kind != SCHEMA_MAP || strncmp(value->path, "agent.", strlen("agent.")) != 0 ||
	    (json = preset_json(value->path)) == NULL)
		return json_incref(value->json);
	json_object_update(json, value->json);
	return json;
}

/* A cell of the table of profiles; NULL: an empty one. */
static json_t *cell_json(const struct setting *setting, const struct profile *profile)
{
	const void *cell = (const char *)profile + setting->profile_field;
	const char *text;

	if (setting->is.rule != &rule_file_name && setting->is.rule != &rule_directory)
		return setting_json(setting, *(const int64_t *)cell);
	text = *(const char *const *)cell;
	return text == NULL ? NULL : json_string(text);
}

/* The value in the chosen profile: the user's own, those it extends, the built-in one. NULL:
 * none. */
static json_t *profile_json(const struct layers *layers, const struct setting *setting, char **from)
{
	const struct profile *builtin = NULL;
	json_t *json = NULL;

	if (layers->profile == NULL || !(setting->layers & LAYER_PROFILE) ||
	    (layers->off && strncmp(setting->is.name, "run.", strlen("run.")) == 0))
		return NULL;
	for (const char *name = layers->profile; json == NULL && builtin == NULL;
	    name = config_extends(layers->config, name)) {
		char *path = xasprintf("profile.%s.%s", name, setting_key(setting->is.name));
		const struct value *value = values_find(config_values(layers->config), path);

		free(path);
		builtin = profile_find(name);
		if (value != NULL) {
			json = json_incref(value->json);
			*from = xasprintf("profile %s (%s:%u)", name, config_path(layers->config), value->line);
		} else if (builtin != NULL && setting->profile_field != 0 &&
		    (json = cell_json(setting, builtin)) != NULL) {
			*from = xasprintf("profile %s", name);
		}
	}
	return json;
}

/* A preset's command for reviewers belongs to its command, and is dropped if that is overridden. */
static bool is_overruled(const struct layers *layers, const struct setting *setting, const char *path)
{
	char *command = strcmp(setting->is.name, "agent.*.review") != 0 ? NULL :
	    xasprintf("%.*scommand", (int)(setting_key(path) - path), path);
	bool overruled = command != NULL && values_find(config_values(layers->config), command) != NULL;

	free(command);
	return overruled;
}

static json_t *default_json(const struct layers *layers, const struct setting *setting, const char *path)
{
	json_t *json;

	if (is_overruled(layers, setting, path))
		return json_array();
	if (strncmp(path, "agent.", strlen("agent.")) == 0 && (json = preset_json(path)) != NULL)
		return json;
	if (strncmp(path, "launcher.", strlen("launcher.")) == 0 &&
	    (json = launcher_json(layers->config, path)) != NULL)
		return json;
	/* an agent without an account has one of its own name */
	if (strcmp(setting->is.name, "agent.*.account") == 0)
		return json_stringn(path + strlen("agent."), strlen(path) - strlen("agent.") - strlen(".account"));
	/* raising `parallel` also raises the limit of runs without a group */
	if (strcmp(path, "group." GROUP_DEFAULT ".slots") == 0)
		return layers_get(layers, "parallel", NULL);
	return setting->fallback == NULL ? NULL : json_loads(setting->fallback, JSON_DECODE_ANY, NULL);
}

/* What a project adds to, so that it takes nothing away. Takes ownership of json. */
static json_t *add_others(const struct layers *layers, const char *path, json_t *json)
{
	const struct layers without = { .config = layers->config, .profile = layers->profile, .off = layers->off };
	json_t *others = layers_get(&without, path, NULL), *sum = json_array(), *word;
	size_t i;

	json_array_extend(sum, others);
	json_array_foreach(json, i, word)
		json_array_append(sum, word);
	json_decref(others);
	json_decref(json);
	return sum;
}

json_t *layers_get(const struct layers *layers, const char *path, struct origin *origin)
{
	const struct setting *setting = setting_find(path, NULL);
	const struct value *value;
	struct origin o = { 0 };
	json_t *json;

	if ((value = values_find(&layers->submit, path)) != NULL) {
		json = json_incref(value->json);
		o = (struct origin){ xstrdup("command line"), value->field, value->field, true };
	} else if (layers->project != NULL && (value = values_find(&layers->project->values, path)) != NULL) {
		json = json_incref(value->json);
		if ((setting->layers & LAYER_ADDS) != 0)
			json = add_others(layers, path, json);
		o = (struct origin){ xasprintf("%s:%u", layers->project->path, value->line), NULL, "workdir", true };
	} else if ((value = values_find(config_values(layers->config), path)) != NULL) {
		json = file_json(value);
		o = (struct origin){ xasprintf("%s:%u", config_path(layers->config), value->line), NULL, NULL, true };
	} else if ((json = profile_json(layers, setting, &o.text)) == NULL) {
		json = default_json(layers, setting, path);
		o.text = xstrdup("default");
	}
	if (o.name == NULL)
		o.name = o.text;
	if (origin != NULL)
		*origin = o;
	else
		free(o.text);
	return json;
}

bool layers_submitted(const struct layers *layers, const char *path)
{
	return values_find(&layers->submit, path) != NULL;
}

json_t *layers_profile(const struct layers *layers, const char *path)
{
	char *from = NULL;
	json_t *json = profile_json(layers, setting_find(path, NULL), &from);

	free(from);
	return json;
}

/* Check the submit's values once, so that later lookups need not. */
static int take_overrides(struct layers *layers, const struct config_override *overrides,
    size_t count, struct config_error *error)
{
	for (size_t i = 0; i < count; i++) {
		const struct config_override *o = &overrides[i];
		const char *rest, *name = o->field != NULL ? o->field : o->path;
		const struct setting *setting = setting_find(o->path, &rest);
		json_t *json;
		char *why;

		if (setting == NULL || rest != NULL || strcmp(setting->is.name, o->path) != 0 ||
		    !(setting->layers & LAYER_SUBMIT))
			return config_refuse(error, o->field,
			    "%s: '%s' cannot be set by a submit", name, o->path);
		json = json_loads(o->value, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
		if (json == NULL)
			return config_refuse(error, o->field, "%s: the value is not valid JSON", name);
		if ((why = setting_refuse(setting, json)) != NULL) {
			json_decref(json);
			config_refuse(error, o->field, "%s: %s", name, why);
			free(why);
			return -1;
		}
		values_put(&layers->submit, o->path, setting, json)->field = xstrdup(name);
		if (config_check_name(layers->config, setting, json, o->field, name, error) == -1)
			return -1;
	}
	return 0;
}

/* Whether a is less than b. */
static bool is_less(const struct setting *setting, const json_t *a, const json_t *b)
{
	if (setting->is.kind == SCHEMA_MONEY)
		return setting_money(a) < setting_money(b);
	return setting_number(setting, a) < setting_number(setting, b);
}

/* A repository may ask for more care or less money, not for the opposite. */
static int check_stricter(const struct layers *layers, const struct value *value, struct config_error *error)
{
	const struct layers without = { .config = layers->config, .profile = layers->profile, .off = layers->off };
	struct origin origin;
	json_t *json = layers_get(&without, value->path, &origin);
	bool lower = (value->setting->layers & LAYER_LOWER) != 0;
	char *text = json != NULL ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
	int rv = 0;

	if (json != NULL && (origin.said || !(value->setting->layers & LAYER_SAID)) &&
	    (lower ? is_less(value->setting, json, value->json) : is_less(value->setting, value->json, json)))
		rv = config_refuse(error, "workdir",
		    "%s:%u:%u: a project may only make '%s' %s, and it is %s already (%s)",
		    layers->project->path, value->line, value->column, value->path,
		    lower && value->setting->is.kind != SCHEMA_CHOICE ? "lower" : "stricter", text, origin.text);
	free(text);
	free(origin.text);
	json_decref(json);
	return rv;
}

/* Checks of the project's values that need rld.toml. */
static int check_project(const struct layers *layers, struct config_error *error)
{
	int rv = 0;

	for (size_t i = 0; layers->project != NULL && i < layers->project->values.count && rv == 0; i++) {
		const struct value *value = &layers->project->values.list[i];
		char *where = xasprintf("%s:%u:%u: '%s'", layers->project->path, value->line,
		    value->column, value->path);

		rv = config_check_name(layers->config, value->setting, value->json, "workdir", where, error);
		free(where);
	}
	return rv;
}

static void set_submit(struct layers *layers, const char *path, const char *field, json_t *json)
{
	values_put(&layers->submit, path, setting_find(path, NULL), json)->field = xstrdup(field);
}

static char *get_profile(const struct layers *layers)
{
	json_t *json = layers_get(layers, "review.profile", NULL);
	char *name = xstrdup(json_string_value(json));

	json_decref(json);
	return name;
}

/* Naming a reviewer turns the review on. */
static int imply_reviewer(struct layers *layers, struct config_error *error)
{
	const struct value *reviewer = values_find(&layers->submit, "review.reviewer");
	char *field;
	bool by_exit;
	int rv = 0;

	if (reviewer == NULL)
		return 0;
	field = xstrdup(reviewer->field);
	by_exit = config_profile(layers->config, layers->profile)->carrier == CARRIER_EXIT;
	if (values_find(&layers->submit, "review.enabled") == NULL)
		set_submit(layers, "review.enabled", field, json_true());
	if (!by_exit && values_find(&layers->submit, "review.profile") != NULL) {
		rv = config_refuse(error, field,
		    "%s: profile '%s' is reviewed by an agent, not by a program; leave the profile "
		    "out, or choose \"exit\"", field, layers->profile);
	} else if (!by_exit) {
		set_submit(layers, "review.profile", field, json_string("exit"));
		free(layers->profile);
		layers->profile = xstrdup("exit");
	}
	free(field);
	return rv;
}

/* A timeout set by a submit for all attempts also applies to reviews, unless it sets one for
 * those. */
static void imply_review_timeout(struct layers *layers)
{
	const struct value *timeout = values_find(&layers->submit, "limits.timeout");
	json_t *json;
	char *field;

	if (timeout == NULL || values_find(&layers->submit, "review.timeout") != NULL)
		return;
	json = json_incref(timeout->json);
	field = xstrdup(timeout->field);
	set_submit(layers, "review.timeout", field, json);
	free(field);
}

int layers_open(struct layers *layers, const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count, struct config_error *error)
{
	json_t *enabled;

	*layers = (struct layers){ .config = config, .project = project };
	*error = (struct config_error){ 0 };
	if (take_overrides(layers, overrides, count, error) == -1 || check_project(layers, error) == -1)
		return -1;
	layers->profile = get_profile(layers);
	if (imply_reviewer(layers, error) == -1)
		return -1;
	imply_review_timeout(layers);
	enabled = layers_get(layers, "review.enabled", NULL);
	layers->off = !json_is_true(enabled);
	json_decref(enabled);
	for (size_t i = 0; project != NULL && i < project->values.count; i++) {
		if ((project->values.list[i].setting->layers & (LAYER_STRICTER | LAYER_LOWER)) &&
		    check_stricter(layers, &project->values.list[i], error) == -1)
			return -1;
	}
	return 0;
}

void layers_close(struct layers *layers)
{
	values_release(&layers->submit);
	free(layers->profile);
}
