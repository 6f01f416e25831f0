/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/chain.h"
#include "rpc/context.h"
#include "rpc/json.h"
#include "rpc/load.h"

static void no_such_run(struct call *call)
{
	call_error(call, RPC_NOT_FOUND, "run", NULL, "there is no run %lld", (long long)call_int(call, "run", 0));
}

static bool task_has_ended(const struct run_rows *rows, const char *id)
{
	for (size_t i = 0; i < rows->ntasks; i++) {
		if (strcmp(rows->tasks[i]->id, id) == 0)
			return rows->tasks[i]->state != TASK_S_OPEN && rows->tasks[i]->state != TASK_S_CLAIMED;
	}
	return false;
}

/* The last review of a task that has ended. */
static bool is_final(const struct run_rows *rows, size_t at)
{
	const char *task = rows->reviews[at]->task_id;

	for (size_t i = at + 1; i < rows->nreviews; i++) {
		if (strcmp(rows->reviews[i]->task_id, task) == 0)
			return false;
	}
	return task_has_ended(rows, task);
}

static json_t *review_json(const struct run_rows *rows, size_t at)
{
	const struct review_row *review = rows->reviews[at];
	json_t *json = json_row(ROW_REVIEW, review), *findings = json_array();

	for (size_t i = 0; i < rows->nfindings; i++) {
		if (rows->findings[i]->review == review->number)
			json_array_append_new(findings, json_row(ROW_FINDING, rows->findings[i]));
	}
	json_object_set_new(json, "findings", findings);
	json_object_set_new(json, "final", json_boolean(is_final(rows, at)));
	return json;
}

static void list_cb(void *arg, const struct run_rows *rows)
{
	struct call *call = arg;
	const char *task = call_text(call, "task");
	json_t *list;

	if (rows == NULL) {
		no_such_run(call);
		return;
	}
	list = json_array();
	for (size_t i = 0; i < rows->nreviews; i++) {
		if (task == NULL || strcmp(rows->reviews[i]->task_id, task) == 0)
			json_array_append_new(list, review_json(rows, i));
	}
	call_ok(call, json_pack("{s:o}", "reviews", list));
}

static struct reply list(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "run", 0), LOAD_TASKS | LOAD_REVIEWS | LOAD_FINDINGS, list_cb, call);
	return reply_later(call);
}

static void verify_cb(void *arg, const struct run_rows *rows)
{
	struct call *call = arg;
	char *fault;

	if (rows == NULL) {
		no_such_run(call);
		return;
	}
	fault = chain_verify(rows->reviews, rows->nreviews, rows->findings, rows->nfindings, rows->run.review_count, rows->run.review_head);
	call_ok(call, json_pack("{s:I,s:b,s:I,s:o,s:o}", "run", (json_int_t)rows->run.id, "ok", fault == NULL,
	    "reviews", (json_int_t)rows->nreviews, "head", json_text(rows->run.review_head), "message", json_text(fault)));
	free(fault);
}

static struct reply verify(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "run", 0), LOAD_REVIEWS | LOAD_FINDINGS, verify_cb, call);
	return reply_later(call);
}

#define RUN_PARAM { "run", PARAM_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "id of the run" }

static const struct param list_params[] = {
	RUN_PARAM,
	{ "task", PARAM_TEXT, .min = 1, .max = 256, .help = "only reviews of this task" },
	{ 0 },
};
static const struct param verify_params[] = { RUN_PARAM, { 0 } };
static const struct result_field list_results[] = {
	{ "reviews", "array", "in order: {run, number, task_id, reviewer_agent, coder_agent, iteration, decision, feedback, quality_checks, "
	    "source, attempt, tree, findings, final, timestamp, previous_hash, hash}" },
	{ 0 },
};
static const struct result_field verify_results[] = {
	{ "run", "integer", "id of the run" },
	{ "ok", "boolean", "the log is as it was written" },
	{ "reviews", "integer", "rows in the log" },
	{ "head", "string|null", "hash of the newest row" },
	{ "message", "string|null", "which row breaks the chain" },
	{ 0 },
};
static const int errors[] = { RPC_NOT_FOUND, 0 };

const struct method review_methods[] = {
	{ "review.list", ACCESS_READ, true, list_params, list_results, errors, list, "the review log of a run" },
	{ "review.verify", ACCESS_READ, false, verify_params, verify_results, errors, verify, "prove that the review log was not changed" },
	{ 0 },
};
