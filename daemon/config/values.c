/* SPDX-License-Identifier: MIT */
#include "config/values.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/memory.h"
#include "core/profile.h"

struct value *values_find(const struct values *values, const char *path)
{
	for (size_t i = 0; i < values->count; i++) {
		if (strcmp(values->list[i].path, path) == 0)
			return &values->list[i];
	}
	return NULL;
}

static void value_release(struct value *value)
{
	free(value->path);
	free(value->field);
	json_decref(value->json);
}

struct value *values_put(struct values *values, const char *path, const struct setting *setting, json_t *json)
{
	struct value *value = values_find(values, path);

	if (value == NULL) {
		values->list = xreallocarray(values->list, values->count + 1, sizeof(*values->list));
		value = &values->list[values->count++];
	} else {
		value_release(value);
	}
	*value = (struct value){ .path = xstrdup(path), .setting = setting, .json = json };
	return value;
}

void values_release(struct values *values)
{
	for (size_t i = 0; i < values->count; i++)
		value_release(&values->list[i]);
	free(values->list);
	*values = (struct values){ 0 };
}

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

/* What a preset says about "agent.NAME.key"; NULL: nothing. */
static json_t *preset_json(const char *path)
{
	const char *name = path + strlen("agent."), *key = strrchr(path, '.') + 1;
	char *copy = xmemdup0(name, (size_t)(key - 1 - name));
	const struct agent_preset *preset = agent_preset_find(copy);

	free(copy);
	if (preset == NULL)
		return NULL;
	if (strcmp(key, "command") == 0)
		return words_json(preset->command);
	if (strcmp(key, "prompt") == 0)
		return json_string(state_name(&prompt_via_names, (int)preset->prompt));
	if (strcmp(key, "reader") == 0)
		return json_string(state_name(&reader_names, (int)preset->reader));
	if (strcmp(key, "env") == 0)
		return words_json(preset->env);
	if (strcmp(key, "set") == 0)
		return map_json(preset->set);
	return NULL;
}

/* What the file says. Each key of a table is a setting of its own: those of a preset that are not written stay. */
static json_t *file_json(const struct value *value)
{
	json_t *json;

	if (value->setting->kind != SETTING_MAP || (json = preset_json(value->path)) == NULL)
		return json_incref(value->json);
	json_object_update(json, value->json);
	return json;
}

json_t *layers_get(const struct layers *layers, const char *path, char **from, const char **field)
{
	const struct setting *setting = setting_find(path, NULL);
	const struct value *value = NULL;
	json_t *json;

	if (from != NULL)
		*from = NULL;
	if (field != NULL)
		*field = NULL;
	if (layers->submit != NULL && (value = values_find(layers->submit, path)) != NULL) {
		if (from != NULL)
			*from = xstrdup(value->field);
		if (field != NULL)
			*field = value->field;
		return json_incref(value->json);
	}
	if ((value = values_find(config_values(layers->config), path)) != NULL) {
		if (from != NULL)
			*from = xasprintf("%s:%u", config_path(layers->config), value->line);
		return file_json(value);
	}
	if (layers->profile != NULL && setting->profile_field != 0) {
		if (from != NULL)
			*from = xasprintf("profile %s", layers->profile->name);
		return setting_json(setting, *(const int64_t *)(const void *)((const char *)layers->profile + setting->profile_field));
	}
	if (from != NULL)
		*from = xstrdup("default");
	if (strncmp(path, "agent.", strlen("agent.")) == 0 && (json = preset_json(path)) != NULL)
		return json;
	return setting->fallback == NULL ? NULL : json_loads(setting->fallback, JSON_DECODE_ANY, NULL);
}
