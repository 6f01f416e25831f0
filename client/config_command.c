/* SPDX-License-Identifier: MIT */
/* rlctl config: show the daemon's settings, or validate a file. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/listing.h"
#include "client/message.h"
#include "client/spawn_program.h"
#include "client/table.h"
#include "proto/memory.h"

/* The JSON text; "" for null. */
static char *config_value(const json_t *setting, const char *key)
{
	const json_t *value = json_object_get(setting, key);

	return value == NULL || json_is_null(value) ? xstrdup("") : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}

static const struct table_column columns[] = {
	{ "KEY", 0, cell_text, .key = "path", .paint = PAINT_BOLD },
	{ "VALUE", TABLE_FLEXIBLE, config_value, .key = "value" },
	{ "FROM", 0, cell_text, .key = "from", .paint = PAINT_DIM },
	{ "MEANING", TABLE_FLEXIBLE, cell_text, .key = "help", .paint = PAINT_DIM },
};

static const struct listing settings = { "config.show", "settings", columns, ARRAY_SIZE(columns), NULL, NULL };

static int config_show(struct client *c)
{
	if (c->options.count > 1) {
		message_error("config show takes no file; it shows the daemon's settings");
		return EXIT_USAGE;
	}
	return listing_run(c, &settings, json_incref(c->options.params));
}

static int config_check(struct client *c)
{
	if (json_object_size(c->options.params) > 0) {
		message_error("config check takes no options; "
		    "\"rlctl config show -C DIR\" checks a project's own file");
		return EXIT_USAGE;
	}
	return start_config_check(c->options.count > 1 ? c->options.arguments[1] : NULL);
}

static const struct client_action actions[] = { { "show", 1, 2, config_show }, { "check", 1, 2, config_check } };

int config_command(struct client *c)
{
	return client_act(c, actions, ARRAY_SIZE(actions));
}
