/* SPDX-License-Identifier: MIT */
/* rlctl group: the slots that groups of runs share. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/show.h"
#include "client/table.h"
#include "proto/memory.h"

static const struct table_column columns[] = {
	{ "GROUP", 0 },
	{ "STATE", 0 },
	{ "USED", TABLE_RIGHT },
	{ "SLOTS", TABLE_RIGHT },
	{ "QUEUED", TABLE_RIGHT },
	{ "FROM", 0 },
};

static void add_group(struct table *t, const json_t *group)
{
	bool paused = field_true(group, "paused"), limit = field_int(group, "slots") != FIELD_NONE;

	table_add(t, PAINT_NONE, field_text(group, "name"));
	table_add(t, paused ? PAINT_YELLOW : PAINT_NONE, paused ? "paused" : "open");
	table_take(t, PAINT_NONE, show_number(group, "used"));
	table_take(t, PAINT_NONE, limit ? show_number(group, "slots") : xstrdup("all"));
	table_take(t, PAINT_NONE, show_number(group, "queued"));
	table_add(t, PAINT_DIM, field_true(group, "live") ? "group set" : limit ? "settings" : "");
}

static int list(struct client *c)
{
	const json_t *groups;
	struct table *t;
	json_t *result;
	int status;

	result = client_call_json(c, "group.list", NULL, &status);
	if (result == NULL || c->json)
		goto out;
	groups = field_array(result, "groups");
	t = table_new(columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < json_array_size(groups); i++)
		add_group(t, json_array_get(groups, i));
	table_print(t, &c->out, false);
	table_free(t);
out:
	json_decref(result);
	return status;
}

/* more: parameters beside the name, taken over. */
static int change(struct client *c, const char *method, json_t *more)
{
	int64_t slots;
	json_t *group;
	int status;

	json_object_set_new(more, "name", json_string(c->options.arguments[1]));
	group = client_call_json(c, method, more, &status);
	if (group != NULL && !c->json) {
		slots = field_int(group, "slots");
		fputs("Group ", c->talk.file);
		print_painted(&c->talk, PAINT_BOLD, field_text(group, "name"));
		if (slots == FIELD_NONE)
			fputs(": as many slots as the daemon has", c->talk.file);
		else
			fprintf(c->talk.file, ": %lld slot%s", (long long)slots, slots == 1 ? "" : "s");
		fprintf(c->talk.file, ", %lld in use%s.\n", (long long)field_int(group, "used"), field_true(group, "paused") ? "; paused" : "");
	}
	json_decref(group);
	return status;
}

static int pause_group(struct client *c)
{
	return change(c, "group.pause", json_object());
}

static int resume(struct client *c)
{
	return change(c, "group.resume", json_object());
}

static int set(struct client *c)
{
	const char *text = options_text(&c->options, "slots");
	json_t *more = json_object();
	int64_t slots;

	if (text != NULL && client_parse_id(text, &slots) == 0)
		json_object_set_new(more, "slots", json_integer(slots));
	else if (text == NULL || strcmp(text, "default") != 0) {
		warnx(text == NULL ? "how many slots? Say it with --slots N, or --slots default" : "--slots takes a number from 1 on, or the word default");
		json_decref(more);
		return EXIT_USAGE;
	}
	return change(c, "group.set", more);
}

static const struct {
	const char *name;
	int arguments;		/* with the name */
	int (*run)(struct client *c);
} actions[] = { { "list", 1, list }, { "set", 2, set }, { "pause", 2, pause_group }, { "resume", 2, resume } };

int group_command(struct client *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (strcmp(actions[i].name, c->options.arguments[0]) == 0 && c->options.count == actions[i].arguments)
			return actions[i].run(c);
	warnx("usage: rlctl group %s", c->command->usage);
	return EXIT_USAGE;
}
