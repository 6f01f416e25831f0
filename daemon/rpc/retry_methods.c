/* SPDX-License-Identifier: MIT */
/* run.retry and review.again: a new run that continues what an earlier one has made. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/offload.h"
#include "config/config.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "core/profile.h"
#include "job/host_refusal.h"
#include "job/secrets.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/environment.h"
#include "rpc/run_answer.h"
#include "rpc/run_load.h"

/* what a retry takes over */
#define RETRIED (LOAD_TASKS | LOAD_SLOTS | LOAD_PRODUCTS | LOAD_REVIEWS | LOAD_FINDINGS)

static char *agent_set(void *arg, const char *agent, const char *name)
{
	return config_agent_set(arg, agent, name);
}

/* The variables set by its agents were deleted when the run ended; those of a held run still exist,
 * unless another environment is sent. Returns NULL, or why the run cannot be retried. */
static char *retry_secrets(struct rpc *rpc, const struct run_rows *rows, char ***environment)
{
	struct config *config = (struct config *)rpc_config(rpc);
	char *why = NULL;

	if (*environment == NULL && rows->run.state == RUN_S_HELD)
		return NULL;
	for (size_t i = 0; i <= rows->ntasks && why == NULL; i++) {
		const char *text = i == 0 ? rows->run.plan : rows->tasks[i - 1]->plan;
		struct plan plan = { 0 };

		if (text == NULL || plan_from_json(text, &plan) == -1)
			continue;
		why = secrets_hide_again(&plan, agent_set, config, environment);
		plan_release(&plan);
	}
	return why;
}

/* ---- what rooms need ---- */

/* The set-up that the project's settings have now, of the run or of a task. plan: JSON, replaced.
 * Returns NULL, or why not. */
static char *set_setup(struct rpc *rpc, const struct project *project, char **text)
{
	struct plan plan = { 0 }, now = { 0 };
	struct config_error error = { 0 };
	char *profile = NULL, *why = NULL;

	if (plan_from_json(*text, &plan) == -1)
		return xstrdup("cannot read the run's settings");
	profile = xasprintf("\"%s\"", plan.profile->name);
	if (config_resolve(rpc_config(rpc), project, &(struct config_override){ "review.profile", profile, "id" },
	    1, &now, &error) == -1) {
		why = xstrdup(error.text);
	} else {
		plan_swap_setup(&plan, &now);
		free(*text);
		*text = plan_to_json(&plan);
	}
	plan_release(&now);
	plan_release(&plan);
	free(profile);
	return why;
}

static char *set_setups(struct rpc *rpc, const struct project *project, struct run_rows *rows)
{
	char *why = set_setup(rpc, project, &rows->run.plan);

	for (size_t i = 0; i < rows->ntasks && why == NULL; i++)
		if (rows->tasks[i]->plan != NULL)
			why = set_setup(rpc, project, &((struct task_row *)rows->tasks[i])->plan);
	return why;
}

/* ---- retry ---- */

/* A retry that waits for the project file. */
struct retrying {
	struct pending *pending;
	struct run_rows *rows;
	struct project_text text;
};

static void retry(struct pending *p, const struct run_rows *rows)
{
	char **environment = environment_sent(p->call), *why;

	why = retry_secrets(p->rpc, rows, &environment);
	if (why != NULL) {
		call_error(p->call, RPC_WRONG_STATE, "id",
		    "set it there again and reload, or submit the task again", "%s", why);
		free(p);
	} else {
		const struct retry what = { .by = call_uid(p->call), .environment = environment,
		    .check = call_flag(p->call, "check"), .from_scratch = call_flag(p->call, "from_scratch"),
		    .new_judge = call_flag(p->call, "new_judge"),
		    .new_setup = call_flag(p->call, "new_setup") };

		engine_retry(p->rpc->options.engine, rows, &what, run_answer_cb, p);
	}
	free(why);
	strings_wipe(environment);
}

static void read_project(void *arg)
{
	struct retrying *r = arg;
	struct plan plan = { 0 };

	if (plan_from_json(r->rows->run.plan, &plan) == -1)
		r->text.error = -EINVAL;
	else
		project_read(&r->text, r->rows->run.workdir, plan.read_as);
	plan_release(&plan);
}

static void project_done(void *arg)
{
	struct retrying *r = arg;
	struct call *call = r->pending->call;
	struct project *project;
	struct config_error error;
	char *why = NULL;

	if (project_parse(&project, &r->text, &error) == -1) {
		call_error(call, host_refusal_code(-r->text.error, RPC_WRONG_STATE), "new_setup",
		    host_refusal_hint(-r->text.error, NULL), "%s", error.text);
		free(r->pending);
	} else if ((why = set_setups(r->pending->rpc, project, r->rows)) != NULL) {
		call_error(call, RPC_WRONG_STATE, "new_setup", "see `rlctl config show`", "%s", why);
		free(r->pending);
	} else {
		retry(r->pending, r->rows);
	}
	free(why);
	project_free(project);
	project_text_release(&r->text);
	run_rows_free(r->rows);
	free(r);
}

static void retry_cb(void *arg, const struct run_rows *rows)
{
	struct pending *p = arg;
	struct retrying *r;

	if (rows == NULL) {
		call_no_run(p->call, "id", call_int(p->call, "id", 0));
		free(p);
	} else if (call_flag(p->call, "new_setup")) {
		r = xcalloc(1, sizeof(*r));
		r->pending = p;
		r->rows = run_rows_copy(rows);
		offload(p->rpc->options.loop, read_project, project_done, r);
	} else {
		retry(p, rows);
	}
}

static struct reply run_retry(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "id", 0), RETRIED, retry_cb, pending_new(rpc, call));
	return reply_later(call);
}

/* ---- another review ---- */

/* Have agent review instead, by the settings of now. plan: JSON, replaced. Returns NULL, or why
 * not. */
static char *set_reviewer(struct rpc *rpc, char **text, const char *agent)
{
	struct config *config = (struct config *)rpc_config(rpc);
	json_t *name = json_string(agent);
	char *value = json_dumps(name, JSON_ENCODE_ANY), **secrets = NULL, *why = NULL;
	struct plan plan = { 0 }, now = { 0 };
	struct config_error error = { 0 };
	char *profile = NULL;

	if (plan_from_json(*text, &plan) == -1) {
		why = xstrdup("cannot read the run's settings");
	} else if (plan.profile->carrier == CARRIER_EXIT) {
		why = xstrdup("the reviewer of this run is a program, not an agent");
	} else {
		const struct config_override overrides[] = {
			{ "review.profile", profile = xasprintf("\"%s\"", plan.profile->name), "id" },
			{ "review.enabled", "true", "id" },
			{ "review.agent", value, "reviewer_agent" },
			{ "review.reviewers", "[]", "reviewer_agent" },
		};

		if (config_resolve(config, NULL, overrides, sizeof(overrides) / sizeof(overrides[0]), &now,
		    &error) == -1)
			why = xstrdup(error.text);
	}
	if (why == NULL) {
		secrets_hide(&now, &secrets);
		plan_swap_agent(&plan, &now, ROLE_REVIEW);
		plan_drop_panel(&plan);
		free(*text);
		*text = plan_to_json(&plan);
	}
	strings_wipe(secrets);
	plan_release(&now);
	plan_release(&plan);
	json_decref(name);
	free(profile);
	free(value);
	return why;
}

static char *set_reviewers(struct rpc *rpc, struct run_rows *rows, const char *agent)
{
	char *why = set_reviewer(rpc, &rows->run.plan, agent);

	for (size_t i = 0; i < rows->ntasks && why == NULL; i++)
		if (rows->tasks[i]->plan != NULL)
			why = set_reviewer(rpc, &((struct task_row *)rows->tasks[i])->plan, agent);
	return why;
}

static void again_cb(void *arg, const struct run_rows *rows)
{
	struct pending *p = arg;
	const char *agent = call_text(p->call, "reviewer_agent");
	char **environment, *why = NULL;
	struct run_rows *copy;

	if (rows == NULL) {
		call_no_run(p->call, "run", call_int(p->call, "run", 0));
		free(p);
		return;
	}
	copy = run_rows_copy(rows);
	environment = environment_sent(p->call);
	if (agent != NULL)
		why = set_reviewers(p->rpc, copy, agent);
	if (why != NULL)
		call_error(p->call, RPC_INVALID_PARAMS, "reviewer_agent", "see `rlctl config show`", "%s", why);
	else if ((why = retry_secrets(p->rpc, copy, &environment)) != NULL)
		call_error(p->call, RPC_WRONG_STATE, "run",
		    "set it there again and reload, or submit the task again", "%s", why);
	if (why == NULL) {
		const struct retry retry = { .by = call_uid(p->call), .environment = environment,
		    .again = true, .check = call_flag(p->call, "check"), .task = call_text(p->call, "task") };

		engine_retry(p->rpc->options.engine, copy, &retry, run_answer_cb, p);
	} else {
		free(p);
	}
	free(why);
	run_rows_free(copy);
	strings_wipe(environment);
}

static struct reply review_again(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "run", 0), RETRIED, again_cb, pending_new(rpc, call));
	return reply_later(call);
}

#define ID_PARAM { "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "of the run" }
#define CHECK_PARAM { "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" }

static const struct schema retry_params[] = {
	ID_PARAM,
	{ "environment", SCHEMA_PAIRS, .max = ENVIRONMENT_MAX, .help = "the submitter's variables, as in run.submit" },
	{ "new_judge", SCHEMA_BOOL, .help =
	    "read the reviewer's prompt, guidelines, conventions and program again; "
	    "default: those of the first run" },
	{ "new_setup", SCHEMA_BOOL, .help =
	    "read run.setup, run.copy, run.setup_inputs and review.workspace again; default: those of the first run" },
	{ "from_scratch", SCHEMA_BOOL, .help = "take over no work: implement everything again" },
	CHECK_PARAM,
	{ 0 },
};
static const struct schema again_params[] = {
	{ "run", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "that made it" },
	{ "task", SCHEMA_TEXT, .max = 4096, .help = "id of the task; default: each that has been worked on" },
	{ "reviewer_agent", SCHEMA_TEXT, .max = 256, .help = "default: the reviewer of the run" },
	{ "environment", SCHEMA_PAIRS, .max = ENVIRONMENT_MAX, .help = "the submitter's variables, as in run.submit" },
	CHECK_PARAM,
	{ 0 },
};

static const struct result_field run_results[] = {
	RESULT_TYPE("Run"),
	{ 0 },
};

static const int again_errors[] = { RPC_NOT_FOUND, RPC_INVALID_PARAMS, RPC_WRONG_STATE, RPC_DRAINING, RPC_NO_SPACE,
    RPC_UNAVAILABLE, RPC_BUSY, 0 };
static const int retry_errors[] = { RPC_NOT_FOUND, RPC_WRONG_STATE, RPC_DRAINING, RPC_NO_SPACE,
    RPC_UNAVAILABLE, RPC_BUSY, 0 };

const struct method retry_methods[] = {
	{ "run.retry", ACCESS_OWNER, false, retry_params, run_results, retry_errors, run_retry,
	    "retry a run as a new run of the tasks that did not pass, from the phase that failed" },
	{ "review.again", ACCESS_OWNER, false, again_params, run_results, again_errors, review_again,
	    "judge once more what a run has made, as a new run" },
	{ 0 },
};
