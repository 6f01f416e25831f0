/* SPDX-License-Identifier: MIT */
/* rlctl salvage: what work trees had when they were removed, and the way to have it again. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/restore.h"
#include "client/show.h"
#include "client/table.h"
#include "proto/memory.h"

static const struct table_column columns[] = {
	{ "ID", TABLE_RIGHT },
	{ "RUN", TABLE_RIGHT },
	{ "TASK", 0 },
	{ "AGE", TABLE_RIGHT },
	{ "REF", TABLE_FLEXIBLE },
	{ "REPOSITORY", TABLE_FLEXIBLE },
};

static void add_row(struct table *t, const json_t *salvage)
{
	table_take(t, PAINT_NONE, show_number(salvage, "id"));
	table_take(t, PAINT_NONE, show_number(salvage, "run"));
	table_add(t, PAINT_NONE, field_text(salvage, "task"));
	table_take(t, PAINT_NONE, print_age(field_time(salvage, "created_at")));
	table_add(t, PAINT_NONE, field_text(salvage, "ref"));
	table_add(t, PAINT_DIM, field_text(salvage, "workspace"));
}

static int list(struct client *c)
{
	json_t *params = json_incref(c->options.params), *result;
	const json_t *rows;
	struct table *t;
	int64_t run;
	int status;

	if (c->options.count > 1) {
		if (client_parse_run(c->options.arguments[1], &run, NULL) != 0) {
			json_decref(params);
			return EXIT_USAGE;
		}
		json_object_set_new(params, "run", json_integer(run));
	}
	result = client_call_json(c, "salvage.list", params, &status);
	rows = field_array(result, "salvage");
	if (result != NULL && !c->json) {
		t = table_new(columns, ARRAY_SIZE(columns));
		for (size_t i = 0; i < json_array_size(rows); i++)
			add_row(t, json_array_get(rows, i));
		table_print(t, &c->out, false);
		table_free(t);
		if (json_array_size(rows) == 0)
			fputs("Nothing is saved of removed work trees.\n", c->talk.file);
		else if (field_int(result, "next") != FIELD_NONE)
			fprintf(c->talk.file, "There may be older ones: \"rlctl salvage list --before %lld\".\n", (long long)field_int(result, "next"));
	}
	json_decref(result);
	return status;
}

static int restore(struct client *c)
{
	const char *dir = c->options.arguments[2];
	json_t *salvage;
	int64_t id;
	int status;

	if (client_parse_id(c->options.arguments[1], &id) != 0) {
		warnx("%s is no number of a salvage; \"rlctl salvage list\" shows them", c->options.arguments[1]);
		return EXIT_USAGE;
	}
	salvage = client_call(c, "salvage.get", json_pack("{s:I}", "id", (json_int_t)id), &status);
	if (salvage == NULL)
		return status;
	status = restore_commit(field_text(salvage, "workspace"), field_text(salvage, "commit"), dir);
	if (status == EXIT_DONE && c->json) {
		print_json(&c->out, salvage);
	} else if (status == EXIT_DONE) {
		fprintf(c->talk.file, "Task %s of run %lld is laid out in ", field_text(salvage, "task"), (long long)field_int(salvage, "run"));
		print_painted(&c->talk, PAINT_BOLD, dir);
		fputs(", as files without a repository.\nWhat git has of it: \"git -C ", c->talk.file);
		print_painted(&c->talk, PAINT_NONE, field_text(salvage, "workspace"));
		fputs(" show ", c->talk.file);
		print_painted(&c->talk, PAINT_NONE, field_text(salvage, "ref"));
		fputs("\".\n", c->talk.file);
	}
	json_decref(salvage);
	return status;
}

static const struct {
	const char *name;
	int least, most;	/* arguments, with the name */
	int (*run)(struct client *c);
} actions[] = { { "list", 1, 2, list }, { "restore", 3, 3, restore } };

int salvage_command(struct client *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (strcmp(actions[i].name, c->options.arguments[0]) != 0)
			continue;
		if (c->options.count < actions[i].least || c->options.count > actions[i].most)
			break;
		return actions[i].run(c);
	}
	warnx("usage: rlctl salvage %s", c->command->usage);
	return EXIT_USAGE;
}
