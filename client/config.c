/* SPDX-License-Identifier: MIT */
/* rlctl config: the settings the daemon works with, and a look at a file before it does. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/start.h"
#include "client/table.h"
#include "proto/memory.h"

static const struct table_column columns[] = {
	{ "KEY", 0 },
	{ "VALUE", TABLE_FLEXIBLE },
	{ "FROM", 0 },
	{ "MEANING", TABLE_FLEXIBLE },
};

static int show(struct client *c)
{
	const json_t *settings;
	json_t *result;
	struct table *t;
	int status;

	if (c->options.count > 1) {
		warnx("config show takes no file; it shows what the daemon has read");
		return EXIT_USAGE;
	}
	result = client_call_json(c, "config.show", json_incref(c->options.params), &status);
	if (result == NULL || c->json)
		goto out;
	settings = field_array(result, "settings");
	t = table_new(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < json_array_size(settings); i++) {
		const json_t *setting = json_array_get(settings, i), *value = json_object_get(setting, "value");

		table_add(t, PAINT_BOLD, field_text(setting, "path"));
		table_take(t, PAINT_NONE, value == NULL || json_is_null(value) ? xstrdup("") :
			json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY));
		table_add(t, PAINT_DIM, field_text(setting, "from"));
		table_add(t, PAINT_DIM, field_text(setting, "help"));
	}
	table_print(t, &c->out, false);
	table_free(t);
out:
	json_decref(result);
	return status;
}

static int check(struct client *c)
{
	if (json_object_size(c->options.params) > 0) {
		warnx("config check takes no options; \"rlctl config show -C DIR\" checks a project's own file");
		return EXIT_USAGE;
	}
	return start_config_check(c->options.count > 1 ? c->options.arguments[1] : NULL);
}

static const struct {
	const char *name;
	int (*run)(struct client *c);
} actions[] = { { "show", show }, { "check", check } };

int config_command(struct client *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (strcmp(actions[i].name, c->options.arguments[0]) == 0)
			return actions[i].run(c);
	warnx("config %s is unknown; it is \"rlctl config %s\"", c->options.arguments[0], c->command->usage);
	return EXIT_USAGE;
}
