/* SPDX-License-Identifier: MIT */
/* rlctl prompt: show what a role would be given. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/message.h"
#include "client/print.h"
#include "client/submit_command.h"

static int prompt_show(struct client *c)
{
	json_t *params = json_incref(c->options.params), *result, *warning;
	const char *prompt;
	size_t i;
	int status;

	json_object_set_new(params, "role", json_string(c->options.arguments[1]));
	if (c->options.count > 2)
		json_object_set_new(params, "task", json_string(c->options.arguments[2]));
	status = submit_put_workdir(c, params);
	if (status != 0) {
		json_decref(params);
		return status;
	}
	result = client_call_json(c, "prompt.show", params, &status);
	if (result == NULL)
		return status;
	if (!c->json) {
		json_array_foreach(json_object_get(result, "warnings"), i, warning)
			message_note("warning: %s", json_string_value(warning));
		prompt = field_text(result, "prompt");
		print_agent_text(&c->out, prompt, strlen(prompt));
	}
	json_decref(result);
	return EXIT_DONE;
}

static const struct client_action actions[] = { { "show", 2, 3, prompt_show } };

int prompt_command(struct client *c)
{
	return client_act(c, actions, sizeof(actions) / sizeof(actions[0]));
}
