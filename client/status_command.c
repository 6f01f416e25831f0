/* SPDX-License-Identifier: MIT */
/* rlctl status: the daemon in a few lines. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/cooldown_command.h"
#include "client/field.h"
#include "client/table.h"
#include "proto/memory.h"

/* A member on one line; members of an object as "name 3, other 4". The caller frees. */
static char *status_value(const json_t *parent, const char *key)
{
	json_t *value = json_object_get(parent, key);
	struct buf line = { 0 };
	size_t length = strlen(key);

	if (json_is_string(value) && length > 3 && strcmp(key + length - 3, "_at") == 0)
		return print_clock(field_time(parent, key));
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	if (json_is_integer(value) && length > 3 && strcmp(key + length - 3, "_ms") == 0)
		return print_duration(json_integer_value(value));
	if (strcmp(key, "bytes") == 0)
		return cell_size(parent, key);
	if (json_is_boolean(value))
		return xstrdup(json_is_true(value) ? "yes" : "no");
	if (!json_is_object(value))
		return json_is_null(value) ? xstrdup("") : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	for (void *i = json_object_iter(value); i != NULL; i = json_object_iter_next(value, i)) {
		char *inner = status_value(value, json_object_iter_key(i));
		buf_addf(&line, "%s%s %s", line.size > 0 ? ", " : "", json_object_iter_key(i), inner);
		free(inner);
	}
	return buf_take(&line, NULL);
}

/* A line for each account on cooldown. */
static void status_add_cooling(struct table *t, const json_t *accounts)
{
	for (size_t i = 0; i < json_array_size(accounts); i++) {
		const json_t *account = json_array_get(accounts, i);
		char *text = cooldown_text(account);

		table_fact(t, "account", PAINT_YELLOW, xasprintf("%s is %s", field_text(account, "account"), text));
		free(text);
	}
}

/* "uptime_ms" reads "uptime". */
static char *status_label(const char *key)
{
	size_t length = strlen(key);
	char *text;

	if (length > 3 && strcmp(key + length - 3, "_ms") == 0)
		length -= 3;
	text = xasprintf("%.*s", (int)length, key);
	for (char *p = text; *p != '\0'; p++)
		if (*p == '_')
			*p = ' ';
	return text;
}

int status_command(struct client *c)
{
	int status;
	json_t *result = client_call_json(c, "daemon.status", NULL, &status);
	struct table *t;

	if (result != NULL && !c->json) {
		t = table_facts();
		for (void *i = json_object_iter(result); i != NULL; i = json_object_iter_next(result, i)) {
			const char *key = json_object_iter_key(i);
			char *name = status_label(key);

			if (strcmp(key, "cooling") == 0)
				status_add_cooling(t, json_object_get(result, key));
			else
				table_fact(t, name, PAINT_NONE, status_value(result, key));
			free(name);
		}
		table_print_facts(t, &c->out);
	}
	json_decref(result);
	return status;
}
