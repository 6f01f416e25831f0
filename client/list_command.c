/* SPDX-License-Identifier: MIT */
/* rlctl list: runs, newest first. */
#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/listing.h"
#include "client/print.h"
#include "client/table.h"
#include "client/task_summary.h"
#include "proto/memory.h"

/* The title of the only task, or how many there are. */
static char *list_title(const json_t *run, const char *key)
{
	return tasks_are_many(run) ? tasks_passed(run) : cell_text(run, key);
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

static const struct table_column columns[] = {
	{ "RUN", TABLE_RIGHT, cell_number, .key = "id" },
	{ "STATE", 0, cell_text, "state", .paint_of = print_state_paint },
	{ "GROUP", 0, list_group, .key = "group" },
	{ "AGE", TABLE_RIGHT, cell_age, .key = "created_at" },
	{ "TOOK", TABLE_RIGHT, cell_took, .key = NULL },
	{ "COST", TABLE_RIGHT, list_cost, .key = "cost_usd" },
	{ "TASK", TABLE_FLEXIBLE, list_title, .key = "title" },
	{ "WORKDIR", TABLE_FLEXIBLE, cell_text, .key = "workdir", .paint = PAINT_DIM },
	{ "WHY", TABLE_FLEXIBLE, list_why, .key = "cause" },
};

static const struct listing runs = { "run.list", "runs", columns, ARRAY_SIZE(columns),
	"No runs.", "rlctl list" };

int list_command(struct client *c)
{
	return listing_run(c, &runs, json_incref(c->options.params));
}
