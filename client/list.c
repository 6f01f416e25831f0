/* SPDX-License-Identifier: MIT */
/* rlctl list: runs, newest first. */
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/show.h"
#include "client/table.h"
#include "proto/memory.h"

static const struct table_column columns[] = {
	{ "RUN", TABLE_RIGHT },
	{ "STATE", 0 },
	{ "GROUP", 0 },
	{ "AGE", TABLE_RIGHT },
	{ "TOOK", TABLE_RIGHT },
	{ "TASK", TABLE_FLEXIBLE },
	{ "WORKDIR", TABLE_FLEXIBLE },
	{ "WHY", TABLE_FLEXIBLE },
};

/* The title of the run, or of its first task. */
static const char *title(const json_t *run)
{
	const char *text = field_text(run, "title");

	return *text != '\0' ? text : field_text(json_array_get(field_array(run, "tasks"), 0), "title");
}

static void add_run(struct table *t, const json_t *run)
{
	const char *state = field_text(run, "state"), *cause = field_text(run, "cause");
	int64_t started = field_time(run, "started_at"), ended = field_time(run, "ended_at");
	bool done = strcmp(state, "succeeded") == 0;

	table_take(t, PAINT_NONE, xasprintf("%lld", (long long)field_int(run, "id")));
	table_add(t, print_state_paint(state), state);
	/* A column in which nothing stands is left out. */
	table_add(t, PAINT_NONE, strcmp(field_text(run, "group"), "default") == 0 ? "" : field_text(run, "group"));
	table_take(t, PAINT_NONE, print_age(field_time(run, "created_at")));
	table_take(t, PAINT_NONE, started == FIELD_NONE ? xstrdup("") :
		ended == FIELD_NONE ? print_age(started) : print_duration(ended - started));
	table_add(t, PAINT_NONE, title(run));
	table_add(t, PAINT_DIM, field_text(run, "workdir"));
	table_take(t, PAINT_NONE, *cause != '\0' ? xstrdup(cause) : done ? xstrdup("") : show_reason(run));
}

int list_command(struct client *c)
{
	const json_t *runs;
	struct table *t;
	json_t *result;
	int status;

	result = client_call_json(c, "run.list", json_incref(c->options.params), &status);
	if (result == NULL || c->json)
		goto out;
	runs = field_array(result, "runs");
	t = table_new(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < json_array_size(runs); i++)
		add_run(t, json_array_get(runs, i));
	table_print(t, &c->out, false);
	table_free(t);
	if (json_array_size(runs) == 0)
		fputs("There are no runs.\n", c->talk.file);
	else if (field_int(result, "next") != FIELD_NONE)
		fprintf(c->talk.file, "There may be older ones: \"rlctl list --before %lld\".\n", (long long)field_int(result, "next"));
out:
	json_decref(result);
	return status;
}
