/* SPDX-License-Identifier: MIT */
/* rlctl finding: the findings of a run that are open, disputed or dismissed, and the decision that
 * one need not be fixed. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/message.h"
#include "client/print.h"
#include "client/table.h"
#include "proto/memory.h"

static const struct table_column open_columns[] = {
	{ "FINDING", 0, cell_text, .key = "id" },
	{ "TASK", 0, cell_text, .key = "task" },
	{ "STATE", 0, cell_text, .key = "state" },
	{ "PLACE", 0, cell_place, .key = "file" },
	{ "TEXT", TABLE_FLEXIBLE, cell_line, .key = "text" },
};

static const struct table_column dismissed_columns[] = {
	{ "DISMISSED", 0, cell_text, .key = "finding" },
	{ "TASK", 0, cell_text, .key = "task" },
	{ "BY", 0, cell_text, .key = "by" },
	{ "AGE", TABLE_RIGHT, cell_age, .key = "at" },
	{ "REASON", TABLE_FLEXIBLE, cell_line, .key = "reason" },
};

static const struct table_column disputed_columns[] = {
	{ "DISPUTED", 0, cell_text, .key = "finding" },
	{ "TASK", 0, cell_text, .key = "task" },
	{ "BY", 0, cell_text, .key = "by" },
	{ "ANSWER", 0, cell_text, .key = "answer" },
	{ "REASON", TABLE_FLEXIBLE, cell_line, .key = "reason" },
};

/* "RUN", "RUN/TASK" in the second argument. NULL after a message. */
static json_t *finding_params(const struct client *c)
{
	const char *what = c->options.arguments[1], *slash = strchr(what, '/');
	char *number = slash != NULL ? xmemdup0(what, (size_t)(slash - what)) : xstrdup(what);
	json_t *params = NULL;
	int64_t run;

	if (client_parse_run(number, &run, NULL) == 0) {
		params = json_pack("{s:I}", "run", (json_int_t)run);
		if (slash != NULL)
			json_object_set_new(params, "task", json_string(slash + 1));
	}
	free(number);
	return params;
}

static int finding_list(struct client *c)
{
	json_t *params = finding_params(c), *result;
	const json_t *open, *dismissed;
	int status;

	if (params == NULL)
		return EXIT_USAGE;
	result = client_call_json(c, "finding.list", params, &status);
	if (result != NULL && !c->json) {
		open = field_array(result, "open");
		dismissed = field_array(result, "dismissed");
		if (json_array_size(open) == 0)
			fputs("No open findings.\n", c->talk.file);
		else
			table_print_rows(&c->out, open_columns, ARRAY_SIZE(open_columns), open);
		fflush(c->talk.file);
		table_print_apart(&c->out, disputed_columns, ARRAY_SIZE(disputed_columns),
		    field_array(result, "disputed"));
		table_print_apart(&c->out, dismissed_columns, ARRAY_SIZE(dismissed_columns), dismissed);
	}
	json_decref(result);
	return status;
}

/* What follows: a dismissal decides no hold. */
static void finding_print(struct client *c, const json_t *result)
{
	size_t open = json_array_size(field_array(result, "open"));
	long long run = field_count(result, "run"), hold = field_count(result, "hold");
	bool held = json_is_integer(json_object_get(result, "hold"));

	fprintf(c->talk.file, "Finding %s: dismissed; ", field_text(result, "finding"));
	if (open > 0)
		fprintf(c->talk.file, "%zu finding%s of task %s stay%s open. \"rlctl finding list %lld\" lists them.\n",
		    open, open == 1 ? "" : "s", field_text(result, "task"), open == 1 ? "s" : "", run);
	else if (held)
		fprintf(c->talk.file, "no finding of task %s is open. The task is held: \"rlctl hold approve %lld\" "
		    "accepts the work.\n", field_text(result, "task"), hold);
	else
		fprintf(c->talk.file, "no finding of task %s is open. The next verdict decides.\n",
		    field_text(result, "task"));
}

static bool finding_is_blank(const char *text)
{
	return text == NULL || text[strspn(text, " \t\r\n")] == '\0';
}

static int finding_dismiss(struct client *c)
{
	const char *why = options_text(&c->options, "reason");
	json_t *params = finding_params(c), *value, *result;
	int status;

	if (params == NULL)
		return EXIT_USAGE;
	if (finding_is_blank(why)) {
		message_error("missing reason; use --reason TEXT to say why the finding need not be fixed");
		json_decref(params);
		return EXIT_USAGE;
	}
	json_object_set_new(params, "finding", json_string(c->options.arguments[2]));
	value = json_string(why);
	json_object_set(params, "reason", value);
	json_decref(value);
	if (value == NULL) {
		message_error("the reason is not UTF-8; convert it, for example with iconv(1)");
		json_decref(params);
		return EXIT_REFUSED;
	}
	result = client_call_json(c, "finding.dismiss", params, &status);
	if (result != NULL && !c->json)
		finding_print(c, result);
	json_decref(result);
	return status;
}

static const struct client_action actions[] = {
	{ "list", 2, 2, finding_list }, { "dismiss", 3, 3, finding_dismiss },
};

int finding_command(struct client *c)
{
	return client_act(c, actions, ARRAY_SIZE(actions));
}
