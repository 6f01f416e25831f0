/* SPDX-License-Identifier: MIT */
/* rlctl salvage: list and restore the content of removed work trees. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/listing.h"
#include "client/message.h"
#include "client/restore.h"
#include "client/table.h"
#include "proto/memory.h"

static const struct table_column columns[] = {
	{ "ID", TABLE_RIGHT, cell_number, .key = "id" },
	{ "RUN", TABLE_RIGHT, cell_number, .key = "run" },
	{ "TASK", 0, cell_text, .key = "task" },
	{ "AGE", TABLE_RIGHT, cell_age, .key = "created_at" },
	{ "REF", TABLE_FLEXIBLE, cell_text, .key = "ref" },
	{ "REPOSITORY", TABLE_FLEXIBLE, cell_text, .key = "workspace", .paint = PAINT_DIM },
};

static const struct listing saved = {
	"salvage.list", "salvage", columns, ARRAY_SIZE(columns),
	"No work saved from removed work trees.", "--before", NULL,
};

static int salvage_list(struct client *c)
{
	int64_t run;

	if (c->options.count > 1) {
		if (client_parse_run(c->options.arguments[1], &run, NULL) != 0)
			return EXIT_USAGE;
		json_object_set_new(c->options.params, "run", json_integer(run));
	}
	return listing_run(c, &saved, json_incref(c->options.params));
}

static int salvage_restore(struct client *c)
{
	const char *dir = c->options.arguments[2];
	json_t *salvage;
	int64_t id;
	int status;

	if (client_parse_id(c->options.arguments[1], &id) != 0) {
		message_error("%s is not the number of a salvage; \"rlctl salvage list\" shows them",
		    c->options.arguments[1]);
		return EXIT_USAGE;
	}
	salvage = client_get(c, "salvage.get", "id", id, &status);
	if (salvage == NULL)
		return status;
	status = restore_commit(field_text(salvage, "workspace"), field_text(salvage, "commit"), dir);
	if (status == EXIT_DONE && c->json) {
		print_json(&c->out, salvage);
	} else if (status == EXIT_DONE) {
		fprintf(c->talk.file, "Task %s of run %lld is restored in ",
		    field_text(salvage, "task"), field_count(salvage, "run"));
		print_painted(&c->talk, PAINT_BOLD, dir);
		fputs(", as files without a repository.\nTo see it in git: \"git -C ", c->talk.file);
		print_painted(&c->talk, PAINT_NONE, field_text(salvage, "workspace"));
		fputs(" show ", c->talk.file);
		print_painted(&c->talk, PAINT_NONE, field_text(salvage, "ref"));
		fputs("\".\n", c->talk.file);
	}
	json_decref(salvage);
	return status;
}

static const struct client_action actions[] = { { "list", 1, 2, salvage_list }, { "restore", 3, 3, salvage_restore } };

int salvage_command(struct client *c)
{
	return client_act(c, actions, ARRAY_SIZE(actions));
}
