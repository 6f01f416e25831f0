/* SPDX-License-Identifier: MIT */
/* The effective values and their origins. */
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"
#include "config/layers.h"
#include "proto/memory.h"

/* Redact values of agents that look like secrets, in a new document: it is shown to users who need
 * not know them. */
static void hide(json_t **json)
{
	json_t *shown = json_object(), *value;
	const char *name;

	if (!json_is_object(*json)) {
		json_decref(shown);
		return;
	}
	json_object_foreach(*json, name, value) {
		char *text = xstrdup(json_string_value(value));
		bool whole = text != NULL && text[0] != '\0' && redact_hides(name, text);

		if (whole || redact_string(NULL, &text))
			json_object_set_new(shown, name, json_string(whole ? "[secret]" : text));
		else
			json_object_set(shown, name, value);
		free(text);
	}
	json_decref(*json);
	*json = shown;
}

static void tell(const struct layers *layers, const struct setting *setting, const char *path,
    config_each_cb *each, void *arg)
{
	struct origin origin;
	json_t *json = layers_get(layers, path, &origin);
	char *text;

	hide(&json);
	text = json == NULL ? xstrdup("null") : json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

	each(arg, path, text, origin.text, setting->is.help);
	free(text);
	free(origin.text);
	json_decref(json);
}

/* "agent.*.model" of each agent; table: "agent". */
static void list_named(const struct layers *layers, const struct setting *setting,
    const char *table, char *const *names, config_each_cb *each, void *arg)
{
	for (size_t i = 0; names[i] != NULL; i++) {
		char *path = xasprintf("%s.%s.%s", table, names[i], setting_key(setting->is.name));

		tell(layers, setting, path, each, arg);
		free(path);
	}
}

/* Only what is written in each profile, not what it inherits. */
static void list_profiles(const struct layers *layers, config_each_cb *each, void *arg)
{
	const struct values *values = config_values(layers->config);

	for (size_t i = 0; i < values->count; i++) {
		if (strncmp(values->list[i].path, "profile.", strlen("profile.")) == 0)
			tell(layers, values->list[i].setting, values->list[i].path, each, arg);
	}
}

int config_each(const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count,
    config_each_cb *each, void *arg, struct config_error *error)
{
	struct layers layers;
	int rv = layers_open(&layers, config, project, overrides, count, error);

	for (size_t i = 0; i < settings_count && rv == 0; i++) {
		if (!(settings[i].layers & LAYER_FILE))
			continue;
		if (strncmp(settings[i].is.name, "agent.*", strlen("agent.*")) == 0)
			list_named(&layers, &settings[i], "agent", config_agents(config), each, arg);
		else if (strncmp(settings[i].is.name, "group.*", strlen("group.*")) == 0)
			list_named(&layers, &settings[i], "group", config_group_names(config), each, arg);
		else if (strncmp(settings[i].is.name, "account.*", strlen("account.*")) == 0)
			list_named(&layers, &settings[i], "account", config_account_names(config), each, arg);
		else if (strncmp(settings[i].is.name, "launcher.*", strlen("launcher.*")) == 0)
			list_named(&layers, &settings[i], "launcher", config_launcher_names(config), each, arg);
		else if (strncmp(settings[i].is.name, "profile.*", strlen("profile.*")) == 0)
			list_profiles(&layers, each, arg);
		else
			tell(&layers, &settings[i], settings[i].is.name, each, arg);
	}
	layers_close(&layers);
	return rv;
}
