/* SPDX-License-Identifier: MIT */
/* rlctl config: show the daemon's settings, or validate a file. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/message.h"
#include "client/spawn_program.h"
#include "client/table.h"
#include "proto/memory.h"
#include "proto/near.h"

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

/* Whether the setting is that of key, or below it, or its last name is key. changed: and a file
 * sets it. */
static bool is_asked(const json_t *setting, const char *key, bool changed)
{
	const char *path = field_text(setting, "path"), *last = strrchr(path, '.');
	size_t length = key != NULL ? strlen(key) : 0;

	/* not "default", nor the "profile NAME" of a profile that rld has */
	if (changed && strchr(field_text(setting, "from"), '/') == NULL)
		return false;
	return key == NULL || (strncmp(path, key, length) == 0 && (path[length] == '\0' || path[length] == '.')) ||
	    (last != NULL && strcmp(last + 1, key) == 0);
}

/* A path was meant, or its last name. */
static void refuse_key(const json_t *settings, const char *key)
{
	struct near near = { .word = key };

	for (size_t i = 0; i < json_array_size(settings); i++) {
		const char *path = field_text(json_array_get(settings, i), "path"), *last = strrchr(path, '.');

		near_offer(&near, path);
		if (last != NULL)
			near_offer(&near, last + 1);
	}
	if (near.best != NULL)
		message_error("there is no setting %s; did you mean %s?", key, near.best);
	else
		message_error("there is no setting %s; \"rlctl config show\" lists them", key);
}

static int config_show(struct client *c)
{
	const char *key = c->options.count > 1 ? c->options.arguments[1] : NULL;
	bool changed = options_given(&c->options, "changed");
	json_t *shown = json_array(), *result;
	const json_t *all;
	int status;

	result = client_call(c, "config.show", json_incref(c->options.params), &status);
	all = field_array(result, "settings");
	for (size_t i = 0; i < json_array_size(all); i++)
		if (is_asked(json_array_get(all, i), key, changed))
			json_array_append(shown, json_array_get(all, i));
	if (status == 0 && key != NULL && json_array_size(shown) == 0 && !changed) {
		refuse_key(all, key);
		status = EXIT_REFUSED;
	} else if (status == 0 && c->json) {
		json_object_set(result, "settings", shown);
		print_json(&c->out, result);
	} else if (status == 0) {
		table_print_rows(&c->out, columns, ARRAY_SIZE(columns), shown);
	}
	json_decref(shown);
	json_decref(result);
	return status;
}

/* What rld says is our error, or {"ok": true}. */
static int config_check_json(struct client *c, const char *file)
{
	struct buf said = { 0 };
	int status = start_rld((const char *const[]){ "--check-config", file != NULL ? "--config" : NULL, file, NULL },
	    &said, true);
	const char *text = said.data != NULL ? said.data : "";

	if (status == 0) {
		json_t *document = json_pack("{s:b}", "ok", 1);

		print_json(&c->out, document);
		json_decref(document);
	} else if (status > 0) {
		text += strncmp(text, "rld: ", 5) == 0 ? 5 : 0;
		message_error("%.*s", (int)strcspn(text, "\n"), text);
	}
	buf_release(&said);
	return status == -1 ? EXIT_REFUSED : status;
}

static int config_check(struct client *c)
{
	if (json_object_size(c->options.params) > 0 || options_given(&c->options, "changed")) {
		message_error("config check takes no options; "
		    "\"rlctl config show -C DIR\" checks a project's own file");
		return EXIT_USAGE;
	}
	return c->json ? config_check_json(c, c->options.count > 1 ? c->options.arguments[1] : NULL) :
	    start_config_check(c->options.count > 1 ? c->options.arguments[1] : NULL);
}

static const struct client_action actions[] = { { "show", 1, 2, config_show }, { "check", 1, 2, config_check } };

int config_command(struct client *c)
{
	return client_act(c, actions, ARRAY_SIZE(actions));
}
