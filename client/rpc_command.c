/* SPDX-License-Identifier: MIT */
/* rlctl rpc: call any method of the daemon. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/message.h"
#include "proto/memory.h"

/* JSON if it is valid JSON, otherwise the text itself. */
static json_t *read_value(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	return value != NULL ? value : json_string(text);
}

/* Add key=value to params. Returns 0, or an exit code after a message. */
static int add_pair(json_t *params, const char *text)
{
	const char *equals = strchr(text, '=');
	json_t *value;
	char *key;

	if (equals == NULL || equals == text) {
		message_error("%s is neither key=value nor a JSON object or array", text);
		return EXIT_USAGE;
	}
	value = read_value(equals + 1);
	if (value == NULL) {
		message_error("%s is not UTF-8", text);
		return EXIT_USAGE;
	}
	key = xasprintf("%.*s", (int)(equals - text), text);
	json_object_set_new(params, key, value);
	free(key);
	return 0;
}

int rpc_command(struct client *c)
{
	char **arguments = c->options.arguments;
	json_t *params = NULL, *result;
	json_error_t fault;
	int status = 0;
	bool pairs = c->options.count > 1;

	if (pairs && c->options.count == 2 && (arguments[1][0] == '{' || arguments[1][0] == '[')) {
		params = json_loads(arguments[1], 0, &fault);
		if (params == NULL) {
			message_error("the parameters are not valid JSON: %s, at character %d", fault.text,
			    fault.position);
			return EXIT_USAGE;
		}
		pairs = false;
	} else if (pairs) {
		params = json_object();
	}
	for (int i = 1; pairs && i < c->options.count && status == 0; i++)
		status = add_pair(params, arguments[i]);
	if (status != 0) {
		json_decref(params);
		return status;
	}
	result = client_call(c, arguments[0], params, &status);
	if (result != NULL && (c->json || !c->out.terminal))
		print_json(&c->out, result);
	else if (result != NULL)
		print_json_indented(&c->out, result);
	json_decref(result);
	return status;
}
