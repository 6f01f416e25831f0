/* SPDX-License-Identifier: MIT */
/* rlctl group: slots shared by groups of runs. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/group_check.h"
#include "client/listing.h"
#include "client/message.h"
#include "client/table.h"
#include "proto/memory.h"

static char *group_state(const json_t *group, const char *key)
{
	return xstrdup(field_true(group, key) ? "paused" : "open");
}

static enum paint group_paint(const char *state)
{
	return strcmp(state, "paused") == 0 ? PAINT_YELLOW : PAINT_NONE;
}

static char *group_slots(const json_t *group, const char *key)
{
	return field_int(group, key) != FIELD_NONE ? cell_number(group, key) : xstrdup("all");
}

static char *group_from(const json_t *group, const char *key)
{
	return xstrdup(field_true(group, "live") ? "group set" : field_int(group, key) != FIELD_NONE ? "settings" : "");
}

static const struct table_column columns[] = {
	{ "GROUP", 0, cell_text, .key = "name" },
	{ "STATE", 0, group_state, "paused", .paint_of = group_paint },
	{ "USED", TABLE_RIGHT, cell_number, .key = "used" },
	{ "SLOTS", TABLE_RIGHT, group_slots, .key = "slots" },
	{ "QUEUED", TABLE_RIGHT, cell_number, .key = "queued" },
	{ "FROM", 0, group_from, .key = "slots", .paint = PAINT_DIM },
};

static const struct listing groups = { "group.list", "groups", columns, ARRAY_SIZE(columns), NULL, NULL, NULL };

static int group_list(struct client *c)
{
	return listing_run(c, &groups, NULL);
}

/* params: in addition to the name; takes ownership. */
static int group_change(struct client *c, const char *method, json_t *params)
{
	int64_t slots;
	json_t *group;
	int status;

	json_object_set_new(params, "name", json_string(c->options.arguments[1]));
	group = client_call_json(c, method, params, &status);
	if (group != NULL && !c->json) {
		slots = field_int(group, "slots");
		fputs("Group ", c->talk.file);
		print_painted(&c->talk, PAINT_BOLD, field_text(group, "name"));
		if (slots == FIELD_NONE)
			fputs(": as many slots as the daemon has", c->talk.file);
		else
			fprintf(c->talk.file, ": %lld slot%s", (long long)slots, slots == 1 ? "" : "s");
		fprintf(c->talk.file, ", %lld in use%s.\n", field_count(group, "used"),
		    field_true(group, "paused") ? "; paused" : "");
	}
	json_decref(group);
	return status;
}

/* A group that has neither settings nor a run would be made by this, so the name is a mistake. */
static int group_change_known(struct client *c, const char *method)
{
	const char *name = c->options.arguments[1];
	int status = client_connect(c);
	char *near;

	if (status != 0)
		return status;
	if (group_is_known(c, name, &near))
		return group_change(c, method, json_object());
	message_error("there is no group %s: it has no settings and no run", name);
	if (near != NULL)
		message_hint("did you mean %s?", near);
	message_hint("\"rlctl group list\" lists the groups, \"rlctl group set %s --slots N\" makes one", name);
	free(near);
	return EXIT_REFUSED;
}

static int group_pause(struct client *c)
{
	return group_change_known(c, "group.pause");
}

static int group_resume(struct client *c)
{
	return group_change_known(c, "group.resume");
}

static int group_set(struct client *c)
{
	const char *text = options_text(&c->options, "slots");
	json_t *params = json_object();
	int64_t slots;

	if (text != NULL && client_parse_id(text, &slots) == 0) {
		json_object_set_new(params, "slots", json_integer(slots));
	} else if (text == NULL || strcmp(text, "default") != 0) {
		message_error(text == NULL ? "missing number of slots; use --slots N or --slots default"
		                   : "--slots takes a number from 1 up, or the word default");
		json_decref(params);
		return EXIT_USAGE;
	}
	return group_change(c, "group.set", params);
}

static const struct client_action actions[] = {
	{ "list", 1, 1, group_list }, { "set", 2, 2, group_set }, { "pause", 2, 2, group_pause },
	{ "resume", 2, 2, group_resume },
};

int group_command(struct client *c)
{
	return client_act(c, actions, ARRAY_SIZE(actions));
}
