/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>

#include "config/config.h"
#include "core/plan_change.h"
#include "core/row.h"
#include "core/state.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/run_answer.h"
#include "rpc/run_load.h"
#include "task/task.h"

#define CHANGES_MAX 16
#define PRIORITY "priority"

static void ended_cb(void *arg, const struct run_rows *rows)
{
	call_ended_retry(arg, "id", rows, "only unfinished runs can be changed; `rlctl retry` starts a new one");
}

/* The settings that the call names, for config_resolve(): their number, and their bits. Values are
 * owned. */
static size_t read_changes(const struct call *call, struct config_override list[CHANGES_MAX], unsigned *mask)
{
	size_t count = 0;

	*mask = 0;
	for (size_t i = 0; plan_changes[i].name != NULL; i++) {
		const json_t *value = call_param(call, plan_changes[i].name);

		if (value == NULL)
			continue;
		list[count++] = (struct config_override){ plan_changes[i].path, json_dumps(value, JSON_ENCODE_ANY),
		    plan_changes[i].name };
		*mask |= 1u << i;
	}
	return count;
}

/* The agents of the run, and whether they review: not every one reports what a limit counts. */
static size_t add_agents(const struct plan *plan, struct config_override list[CHANGES_MAX], size_t count)
{
	static const struct { enum role role; const char *path; } rows[] = {
		{ ROLE_IMPLEMENT, "default_agent" },
		{ ROLE_REVIEW, "review.agent" },
		{ ROLE_FIX, "review.fixer_agent" },
	};

	if (plan != NULL)
		list[count++] = (struct config_override){ "review.enabled",
		    xstrdup(plan->review ? "true" : "false"), "id" };
	for (size_t i = 0; plan != NULL && i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *agent = plan->agents[rows[i].role].name;
		json_t *name = agent != NULL ? json_string(agent) : NULL;

		if (name != NULL)
			list[count++] = (struct config_override){ rows[i].path,
			    json_dumps(name, JSON_ENCODE_ANY), "id" };
		json_decref(name);
	}
	return count;
}

/* False: refused. */
static bool read_stories(struct call *call, struct task_list *list)
{
	const json_t *text = call_param(call, "stories");
	char *error;

	if (text == NULL || stories_read(json_string_value(text), json_string_length(text), list, &error) == 0)
		return true;
	call_error(call, RPC_INVALID_PARAMS, "stories", "correct the file, then change the run again", "%s", error);
	free(error);
	return false;
}

static struct reply run_change(struct rpc *rpc, struct call *call)
{
	struct run_change change = { .run = call_int(call, "id", 0), .priority = call_int(call, PRIORITY, ROW_NONE),
	    .check = call_flag(call, "check") };
	struct config_override list[CHANGES_MAX];
	struct config_error error = { 0 };
	struct task_list stories = { 0 };
	struct plan plan = { 0 };
	size_t count;
	char *by;

	if (view_run(engine_view(rpc->options.engine), change.run) == NULL) {
		load_run(rpc, change.run, 0, ended_cb, call);
		return reply_later(call);
	}
	count = read_changes(call, list, &change.changes);
	if (!read_stories(call, &stories))
		goto out;
	if (call_param(call, "stories") != NULL)
		change.stories = &stories;
	if (count == 0 && change.priority == ROW_NONE && change.stories == NULL) {
		call_error(call, RPC_INVALID_PARAMS, "id", "see `rlctl help change`", "nothing to change was given");
		goto out;
	}
	count = add_agents(engine_plan(rpc->options.engine, change.run), list, count);
	if (config_resolve((struct config *)rpc_config(rpc), NULL, list, count, &plan, &error) == -1) {
		call_error(call, RPC_INVALID_PARAMS, error.field, NULL, "%s", error.text);
	} else {
		change.plan = &plan;
		change.by = by = xasprintf("uid %u", (unsigned)call_uid(call));
		engine_change(rpc->options.engine, &change, run_answer_cb, pending_new(rpc, call));
		free(by);
	}
out:
	for (size_t i = 0; i < count; i++)
		free((char *)list[i].value);
	task_list_release(&stories);
	plan_release(&plan);
	return reply_later(call);
}

#define SETTING(name, setting_path) { name, SCHEMA_ANY, .path = setting_path }
static const struct schema params[] = {
	{ "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "of the run" },
	{ PRIORITY, SCHEMA_INT, .min = -100, .max = 100, .help = "higher starts first" },
	SETTING("parallel", "run.parallel"),
	SETTING("max_cost", "run.max_cost"),
	SETTING("max_tokens", "run.max_tokens"),
	SETTING("max_wall", "run.max_wall"),
	SETTING("max_fixes", "review.max_fixes"),
	SETTING("timeout", "limits.timeout"),
	SETTING("idle_timeout", "limits.idle_timeout"),
	SETTING("disk_floor", "limits.disk_floor"),
	{ "stories", SCHEMA_TEXT, .min = 1, .max = INT_MAX,
	    .help = "the PRD by now: stories with new ids become tasks of a run of stories" },
	{ "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" },
	{ 0 },
};
static const struct result_field results[] = {
	RESULT_TYPE("Run"),
	{ 0 },
};
static const int errors[] = { RPC_NOT_FOUND, RPC_INVALID_PARAMS, RPC_WRONG_STATE, RPC_NO_SPACE, 0 };

const struct method change_methods[] = {
	{ "run.change", ACCESS_OWNER, false, params, results, errors, run_change,
	    "change the limits, priority or number of slots of an unfinished run, or add stories" },
	{ 0 },
};
