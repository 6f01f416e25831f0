/* SPDX-License-Identifier: MIT */
/* rlctl wait: wait until all runs have ended or are held. */
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/hold_command.h"
#include "client/message.h"
#include "client/print.h"
#include "client/reconnect.h"
#include "client/table.h"
#include "client/task_summary.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "proto/units.h"

#define STEADY_MS 10000	/* a daemon that was there so long has returned well */

/* "" for a run that has succeeded. */
static char *wait_why(const json_t *run, const char *key)
{
	if (exit_of_run(run) == EXIT_DONE)
		return xstrdup("");
	return tasks_are_many(run) ? cell_text(json_object_get(run, "overview"), "why") : cell_why(run, key);
}

/* "" for a run with one task. */
static char *wait_tasks(const json_t *run, const char *key)
{
	(void)key;
	return tasks_are_many(run) ? tasks_passed(run) : xstrdup("");
}

static const struct table_column columns[] = {
	{ "RUN", TABLE_RIGHT, cell_number, .key = "id" },
	{ "STATE", 0, cell_text, "state", .paint_of = print_state_paint },
	{ "TASKS", 0, wait_tasks, .key = NULL },
	{ "WHY", TABLE_FLEXIBLE, wait_why, .key = NULL },
};

/* Worst exit code of the runs as they are now. */
static int wait_class(const json_t *runs)
{
	enum exit_code worst = EXIT_DONE;

	for (size_t i = 0; i < json_array_size(runs); i++)
		worst = exit_worse(worst, exit_of_run(json_array_get(runs, i)));
	return (int)worst;
}

/* Print where to look for open holds. */
static void wait_print_holds(struct client *c, const json_t *runs)
{
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);
		json_t *result;
		int status;

		if (!field_is(run, "state", "held"))
			continue;
		result = client_call(c, "hold.list",
		    json_pack(
		        "{s:I, s:s}", "run", (json_int_t)field_int(run, "id"), "state", "open"),
		    &status);
		hold_print_open(c, field_array(result, "holds"));
		json_decref(result);
	}
}

/* Print how to take the results of runs with many tasks. */
static void wait_print_take(const struct client *c, const json_t *runs)
{
	for (size_t i = 0; i < json_array_size(runs); i++) {
		const json_t *run = json_array_get(runs, i);
		const char *take = field_text(json_object_get(run, "overview"), "take");

		if (tasks_are_many(run) && *take != '\0')
			fprintf(c->talk.file, "To take the result of run %lld: \"%s\".\n", field_count(run, "id"),
			    take);
	}
}

/* Wait for the runs, and for a daemon that is restarted meanwhile. left_ms: FIELD_NONE: no limit.
 * As client_call(). */
static json_t *wait_call(struct client *c, json_t *ids, int64_t left_ms, int *status)
{
	struct call_error error;
	int returns = 0;

	*status = client_connect(c);
	while (*status == 0) {
		json_t *params = json_pack("{s:O}", "ids", ids), *result;
		int64_t asked = clock_steady(), took;
		bool back;

		if (left_ms != FIELD_NONE)
			json_object_set_new(params, "timeout_ms", json_integer(left_ms));
		result = call_method(c->conn, "run.wait", params, &error);
		if (result != NULL)
			return result;
		if (clock_steady() - asked > STEADY_MS)
			returns = 0;
		back = error.code == 0 && !error.silent && reconnect_told(c, FIELD_NONE, FIELD_NONE, &returns);
		if (!back)
			*status = client_refused(c, &error);
		if (*status == EXIT_NO_DAEMON)
			message_hint("the runs and their agents continue; repeat the command to wait again");
		took = clock_steady() - asked;
		if (left_ms != FIELD_NONE)
			left_ms = left_ms > took ? left_ms - took : 0;
	}
	return NULL;
}

int wait_command(struct client *c)
{
	const char *timeout = options_text(&c->options, "timeout");
	json_t *ids = json_array(), *result = NULL;
	int64_t ms = FIELD_NONE;
	int status = 0;

	for (int i = 0; i < c->options.count && status == 0; i++) {
		int64_t run;

		status = client_parse_run(c->options.arguments[i], &run, NULL);
		if (status == 0)
			json_array_append_new(ids, json_integer(run));
	}
	if (timeout != NULL)
		duration_parse(timeout, &ms);
	if (status == 0)
		result = wait_call(c, ids, ms, &status);
	if (result != NULL)
		status = wait_class(field_array(result, "runs"));
	if (result != NULL && c->json) {
		print_json(&c->out, result);
	} else if (result != NULL) {
		table_print_bare(&c->out, columns, ARRAY_SIZE(columns), field_array(result, "runs"));
		wait_print_holds(c, field_array(result, "runs"));
		wait_print_take(c, field_array(result, "runs"));
	}
	json_decref(result);
	json_decref(ids);
	return status;
}
