/* SPDX-License-Identifier: MIT */
/* rlctl list: runs, newest first. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/group_check.h"
#include "client/listing.h"
#include "client/message.h"
#include "client/print.h"
#include "client/table.h"
#include "client/task_summary.h"
#include "proto/memory.h"

/* The title of the only task, or how many there are. */
static char *list_title(const json_t *run, const char *key)
{
	return tasks_are_many(run) ? tasks_counts(run) : cell_text(run, key);
}

/* The home directory is "~" for people; a pipe gets the path. */
static char *list_workdir(const json_t *run, const char *key)
{
	const char *path = field_text(run, key), *home = getenv("HOME");
	size_t size = home != NULL ? strlen(home) : 0;

	if (size > 1 && strncmp(path, home, size) == 0 && (path[size] == '/' || path[size] == '\0'))
		return xasprintf("~%s", path + size);
	return xstrdup(path);
}

static char *list_cost(const json_t *run, const char *key)
{
	return cell_cost(json_object_get(run, "overview"), key);
}

static char *list_group(const json_t *run, const char *key)
{
	return xstrdup(field_is(run, key, "default") ? "" : field_text(run, key));
}

static char *list_why(const json_t *run, const char *key)
{
	const json_t *overview = json_object_get(run, "overview");

	if (*field_text(run, key) != '\0' || field_is(run, "state", "succeeded"))
		return tasks_are_many(run) ? cell_text(overview, "why") : cell_text(run, key);
	return field_count(overview, "held") > 0 ? cell_text(overview, "why") : cell_reason(run, NULL);
}

/* Users of another machine are numbers here, and who of them asks is not known. */
static char *list_nobody(const json_t *run, const char *key)
{
	(void)run;
	(void)key;
	return xstrdup("");
}

/* workdir, owner: how they are shown. */
#define COLUMNS(workdir, owner) \
	{ "RUN", TABLE_RIGHT, cell_number, .key = "id" }, \
	{ "STATE", 0, cell_text, "state", .paint_of = print_state_paint }, \
	{ "GROUP", 0, list_group, .key = "group", .spare = 4 }, \
	{ "OWNER", 0, owner, .key = "owner", .spare = 6 }, \
	{ "AGE", TABLE_RIGHT, cell_age, .key = "created_at", .spare = 5 }, \
	{ "TOOK", TABLE_RIGHT, cell_took, .key = NULL, .spare = 2 }, \
	{ "COST", TABLE_RIGHT, list_cost, .key = "cost_usd", .spare = 3 }, \
	{ "TASK", TABLE_FLEXIBLE, list_title, .key = "title" }, \
	{ "WORKDIR", TABLE_FLEXIBLE | TABLE_COMMON, workdir, .key = "workdir", .paint = PAINT_DIM, .spare = 1 }, \
	{ "WHY", TABLE_FLEXIBLE, list_why, .key = "cause" }

static const struct table_column for_people[] = { COLUMNS(list_workdir, cell_other_user) },
    for_pipes[] = { COLUMNS(cell_text, cell_other_user) }, from_elsewhere[] = { COLUMNS(cell_text, list_nobody) };

/* A mistyped group has no runs either. A group whose runs have all ended is not known, but may be
 * meant. */
static void list_offer_group(struct client *c)
{
	const char *name = options_text(&c->options, "group");
	char *near;

	if (name == NULL || group_is_known(c, name, &near))
		return;
	if (near != NULL)
		message_hint("did you mean --group %s?", near);
	free(near);
}

int list_command(struct client *c)
{
	const json_t *params = c->options.params;
	bool all = json_object_size(params) == (json_object_get(params, "limit") != NULL);
	const struct listing runs = { "run.list", "runs",
		c->options.elsewhere ? from_elsewhere : c->out.terminal ? for_people : for_pipes,
		ARRAY_SIZE(for_people), all ? "No runs." : "No such runs.", "--before", list_offer_group };

	return listing_run(c, &runs, json_incref(c->options.params));
}
