/* SPDX-License-Identifier: MIT */
/* The effective values, and where each comes from. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/layers.h"

static void tell(const struct layers *layers, const struct setting *setting, const char *path, config_each_cb *each, void *arg)
{
	struct origin origin;
	json_t *json = layers_get(layers, path, &origin);
	char *text = json == NULL ? xstrdup("null") : json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

	each(arg, path, text, origin.text, setting->help);
	free(text);
	free(origin.text);
	json_decref(json);
}

/* "agent.*.model" of each agent; table: "agent". */
static void tell_named(const struct layers *layers, const struct setting *setting, const char *table, char *const *names, config_each_cb *each, void *arg)
{
	for (size_t i = 0; names[i] != NULL; i++) {
		char *path = xasprintf("%s.%s.%s", table, names[i], setting_key(setting->path));

		tell(layers, setting, path, each, arg);
		free(path);
	}
}

/* Nothing but what is written of each profile: the rest is what it extends. */
static void tell_profiles(const struct layers *layers, config_each_cb *each, void *arg)
{
	const struct values *values = config_values(layers->config);

	for (size_t i = 0; i < values->count; i++) {
		if (strncmp(values->list[i].path, "profile.", strlen("profile.")) == 0)
			tell(layers, values->list[i].setting, values->list[i].path, each, arg);
	}
}

int config_each(const struct config *config, const struct project *project, const struct config_override *overrides, size_t count,
    config_each_cb *each, void *arg, struct config_error *error)
{
	struct layers layers;
	int rv = layers_open(&layers, config, project, overrides, count, error);

	for (size_t i = 0; i < settings_count && rv == 0; i++) {
		if (!(settings[i].layers & LAYER_FILE))
			continue;
		if (strncmp(settings[i].path, "agent.*", strlen("agent.*")) == 0)
			tell_named(&layers, &settings[i], "agent", config_agents(config), each, arg);
		else if (strncmp(settings[i].path, "group.*", strlen("group.*")) == 0)
			tell_named(&layers, &settings[i], "group", config_group_names(config), each, arg);
		else if (strncmp(settings[i].path, "account.*", strlen("account.*")) == 0)
			tell_named(&layers, &settings[i], "account", config_account_names(config), each, arg);
		else if (strncmp(settings[i].path, "profile.*", strlen("profile.*")) == 0)
			tell_profiles(&layers, each, arg);
		else
			tell(&layers, &settings[i], settings[i].path, each, arg);
	}
	layers_close(&layers);
	return rv;
}
