/* SPDX-License-Identifier: MIT */
#include "run/retry_submit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/cause.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "core/row.h"
#include "core/state.h"
#include "model/model.h"
#include "model/ports.h"
#include "model/runs.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "run/submission.h"
#include "sched/claims.h"
#include "task/task_op.h"

/* Take over the tasks that did not pass, with their texts, plan and workdir. The texts are
 * read one after the other. */

static void retry_text_cb(void *arg, const char *text, size_t size);
static void retry_judge_cb(void *arg, struct judge_row *judge);

static void retry_next(struct pending_submit *p)
{
	struct task_row *row;

	while (p->read < p->ntasks && p->tasks[p->read]->text != NULL)
		p->read++;
	if (p->read < p->ntasks) {
		row = p->tasks[p->read];
		p->engine->ports.task_text(p->engine->ports.store_ctx, p->retry_of, row->id, retry_text_cb, p);
		return;
	}
	if (!p->new_judge && !p->kept_is_read) {
		p->engine->ports.judge(p->engine->ports.store_ctx, p->retry_of, retry_judge_cb, p);
		return;
	}
	TAILQ_REMOVE(&p->engine->reading, p, entry);
	/* a prompt is validated like a new one */
	if (p->source == SOURCE_PROMPT) {
		p->task = xstrdup(p->tasks[0]->text);
		p->task_size = strlen(p->task);
	}
	pending_submit_enqueue(p);
}

/* Frees p. */
static void retry_refused(struct pending_submit *p, int code, const char *message)
{
	TAILQ_REMOVE(&p->engine->reading, p, entry);
	pending_submit_refuse(p->cb, p->arg, code, message, NULL);
	pending_submit_free(p);
}

static void retry_text_cb(void *arg, const char *text, size_t size)
{
	struct pending_submit *p = arg;

	if (text == NULL || p->engine->stopped) {
		retry_refused(p, text == NULL ? RPC_INTERNAL : RPC_UNAVAILABLE,
		    text == NULL ? "the run's task is gone" : "the daemon is stopping");
		return;
	}
	p->tasks[p->read]->text = xmemdup0(text, size);
	retry_next(p);
}

static void retry_judge_cb(void *arg, struct judge_row *judge)
{
	struct pending_submit *p = arg;

	p->kept = judge;
	p->kept_is_read = true;
	if (p->engine->stopped)
		retry_refused(p, RPC_UNAVAILABLE, "the daemon is stopping");
	else
		retry_next(p);
}

/* Read it again from the program's file. */
static void forget_reviewer(struct pending_submit *p)
{
	text_set(&p->plan.reviewer_sha256, NULL);
	for (size_t i = 0; i < p->ntasks; i++) {
		struct plan plan = { 0 };

		if (p->tasks[i]->plan == NULL || plan_from_json(p->tasks[i]->plan, &plan) == -1)
			continue;
		text_set(&plan.reviewer_sha256, NULL);
		free(p->tasks[i]->plan);
		p->tasks[i]->plan = plan_to_json(&plan);
		plan_release(&plan);
	}
}

/* Review what only --skip-review left out of a task's own settings. */
static void unskip(struct task_row *row)
{
	struct plan plan = { 0 };

	if (row->plan == NULL || plan_from_json(row->plan, &plan) == -1)
		return;
	if (plan_unskip(&plan)) {
		free(row->plan);
		row->plan = plan_to_json(&plan);
	}
	plan_release(&plan);
}

/* The work trees of a retry start from what is checked out, without the old run's
 * results on a branch. */
static void warn_of_result(struct pending_submit *p, const struct run_row *old)
{
	json_t *list;
	char *text;

	if (old->result_branch == NULL || old->result_commit == NULL)
		return;
	text = xasprintf("the results of run %lld are on %s, and this run starts without them "
	    "unless they are checked out: \"git merge %s\" first if the remaining tasks build on "
	    "them", (long long)old->id,
	    old->result_branch, old->result_branch);
	list = json_array();
	json_array_append_new(list, json_string(text));
	p->warnings = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	free(text);
}

/* Whether the task passed in another run after the old one had read its source. */
static bool has_passed_since(const struct pending_submit *p, const struct run_row *old, const char *task)
{
	char *source = claim_source(p->source, p->source_path);
	const struct claim_row *claim = source != NULL ? claims_find(p->engine->claims, source, task) : NULL;

	free(source);
	return claim != NULL && claim->state == CLAIM_S_DONE && claim->at >= old->created_at;
}

static void add_task(struct pending_submit *p, struct task_row *row)
{
	row->position = (int64_t)p->ntasks + 1;
	p->tasks = xreallocarray(p->tasks, p->ntasks + 1, sizeof(struct task_row *));
	p->tasks[p->ntasks++] = row;
}

/* Passed tasks are left out, and with them the dependencies on them. Beads are read again. */
static void retry_tasks(struct pending_submit *p, const struct run_rows *rows)
{
	for (size_t i = 0; p->source != SOURCE_BEADS && i < rows->ntasks; i++) {
		struct task_row *row;

		if (rows->tasks[i]->state == TASK_S_PASSED || rows->tasks[i]->state == TASK_S_DONE ||
		    has_passed_since(p, &rows->run, rows->tasks[i]->id))
			continue;
		row = row_copy(ROW_TASK, rows->tasks[i]);
		row->state = TASK_S_OPEN;
		task_set_cause(row, NO_CAUSE);
		free(row->locked_ref);
		free(row->locked_tree);
		row->locked_ref = row->locked_tree = NULL;
		row->disk_bytes = ROW_NONE;
		unskip(row);
		add_task(p, row);
	}
}

void engine_retry(struct engine *engine, const struct run_rows *rows, int64_t owner,
    char *const *environment, bool new_judge, bool check, engine_reply_cb *cb, void *arg)
{
	const struct run_row *old = &rows->run;
	struct pending_submit *p;
	char *message;

	if (pending_submit_refuse_state(engine, cb, arg))
		return;
	if (old->state != RUN_S_FAILED && old->state != RUN_S_CANCELLED && old->state != RUN_S_HELD) {
		message = xasprintf("run %lld has the state %s: "
		    "only a failed, cancelled or held run can be retried",
		    (long long)old->id, state_name(&run_state_names, old->state));
		pending_submit_refuse(cb, arg, RPC_WRONG_STATE, message, old->state == RUN_S_SUCCEEDED ?
		    "submit the task again" : "cancel it first, or wait for it");
		free(message);
		return;
	}
	p = pending_submit_new(engine, owner, check, cb, arg);
	p->workdir = xstrdup(old->workdir);
	p->body_hash = xstrdup("");
	p->environment = strings_copy(environment);
	/* a held run's file still exists */
	p->environment_hash = environment == NULL && old->state == RUN_S_HELD ? xstrdup(old->environment) : NULL;
	p->priority = old->priority;
	p->source = (enum source_kind)source_find(old->source);
	p->source_path = xstrdup(old->source_path);
	p->project = xstrdup(old->project);
	p->feature = xstrdup(old->feature);
	p->group = xstrdup(old->group != NULL ? old->group : "default");
	p->retry_of = old->id;
	retry_tasks(p, rows);
	warn_of_result(p, old);
	if (p->source != SOURCE_BEADS && p->ntasks == 0) {
		pending_submit_refuse(cb, arg, RPC_WRONG_STATE,
		    "all tasks of the run have passed: there is nothing to retry",
		    "submit it again to repeat all of it");
		pending_submit_free(p);
		return;
	}
	if (plan_from_json(old->plan, &p->plan) == -1) {
		pending_submit_refuse(cb, arg, RPC_INTERNAL, "cannot read the run's settings",
		    "submit the task again");
		pending_submit_free(p);
		return;
	}
	plan_unskip(&p->plan);
	p->new_judge = new_judge;
	if (new_judge)
		forget_reviewer(p);
	TAILQ_INSERT_TAIL(&engine->reading, p, entry);
	retry_next(p);
}
