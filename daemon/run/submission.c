/* SPDX-License-Identifier: MIT */
/* From a submit to a queued run: intake (file work for all waiting submits; the file queue says
 * when), decision, commit, answer. */
#include "run/submission.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "core/cause.h"
#include "core/chain.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/state.h"
#include "core/tasks.h"
#include "job/intake.h"
#include "job/review_basis.h"
#include "model/job.h"
#include "model/model.h"
#include "model/ports.h"
#include "model/reply.h"
#include "model/runs.h"
#include "model/view.h"
#include "proc/inspect.h"
#include "prompt/prompt.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "run/file_queue.h"
#include "run/lifecycle.h"
#include "run/task_rows.h"
#include "sched/claims.h"
#include "sched/permits.h"
#include "slot/ref_names.h"
#include "task/task.h"
#include "task/task_op.h"
#include "txn/txn.h"

void pending_submit_free(struct pending_submit *p)
{
	free(p->workdir);
	free(p->task);
	free(p->task_blob);
	free(p->key);
	free(p->body_hash);
	free(p->source_path);
	free(p->warnings);
	free(p->group);
	free(p->project);
	free(p->feature);
	for (size_t i = 0; i < p->ntasks; i++)
		row_free(ROW_TASK, p->tasks[i]);
	free(p->tasks);
	strings_wipe(p->environment);
	free(p->environment_hash);
	plan_release(&p->plan);
	if (p->taken_over != NULL)
		run_rows_free(p->taken_over);
	free(p->start);
	free(p->dismissed);
	free(p->disputed);
	row_free(ROW_RUN, p->row);
	row_free(ROW_JUDGE, p->judge);
	row_free(ROW_JUDGE, p->kept);
	free(p->kept_hash);
	free(p);
}

/* Frees p. */
static void answer(struct pending_submit *p, const struct engine_reply *reply)
{
	p->cb(p->arg, reply);
	pending_submit_free(p);
}

void pending_submit_refuse(engine_reply_cb *cb, void *arg, int code, const char *message, const char *hint)
{
	struct engine_reply reply = { .code = code, .message = message, .hint = hint };

	cb(arg, &reply);
}

void submit_refused(struct pending_submit *p, int code, const char *message, const char *hint, const char *field)
{
	struct engine_reply reply = { .code = code, .message = message, .hint = hint, .field = field };

	TAILQ_REMOVE(&p->engine->deciding, p, entry);
	/* when stopped, the next start sweeps */
	if (p->environment_hash != NULL && !p->engine->stopped)
		file_queue_cleanup(p->engine, (struct litter){ .environment = xstrdup(p->environment_hash) });
	answer(p, &reply);
}

/* Only now the new run is added to the working rows. Frees p. */
static void submit_committed(struct pending_submit *p, const struct run_rows *rows)
{
	struct run_rows *copy = run_rows_new();
	struct txn *txn;
	struct run *run;

	TAILQ_REMOVE(&p->engine->deciding, p, entry);
	row_assign(ROW_RUN, &copy->run, &rows->run);
	for (size_t i = 0; i < rows->ntasks; i++)
		run_rows_put(copy, ROW_TASK, row_copy(ROW_TASK, rows->tasks[i]));
	for (size_t i = 0; i < rows->nreviews; i++)
		run_rows_put(copy, ROW_REVIEW, row_copy(ROW_REVIEW, rows->reviews[i]));
	for (size_t i = 0; i < rows->nfindings; i++)
		run_rows_put(copy, ROW_FINDING, row_copy(ROW_FINDING, rows->findings[i]));
	run = run_new(p->engine, copy, &p->plan);
	queue_add(run);
	if (p->row->end_kind != END_NONE) {
		txn = txn_new(p->engine);
		run_cancel(txn, run, run_cause(p->row));
		txn_commit(txn);
	}
	if (p->task_blob != NULL)
		file_queue_cleanup(p->engine, (struct litter){
		    .blob = xasprintf("%lld-%s", (long long)p->owner, p->task_blob) });
	pending_submit_free(p);
}

/* The object of "K=V". malloc'd; NULL: there are none. */
static char *labels_json(char *const *labels)
{
	json_t *object = json_object();
	char *text;

	for (; labels != NULL && *labels != NULL; labels++) {
		const char *value = strchr(*labels, '=');
		char *name = xmemdup0(*labels, (size_t)(value - *labels));

		json_object_set_new(object, name, json_string(value + 1));
		free(name);
	}
	text = json_object_size(object) > 0 ? json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(object);
	return text;
}

static struct run_row *make_row(const struct pending_submit *p, const struct intake *item)
{
	struct run_row *row = row_new(ROW_RUN);

	row->id = p->id;
	row->owner = p->owner;
	row->key = xstrdup(p->key);
	row->body_hash = xstrdup(p->body_hash);
	row->workdir = xstrdup(p->workdir);
	row->workspace = xstrdup(item->workspace);
	row->has_git = item->has_git;
	row->evidence = xstrdup(item->evidence);
	row->settings_kept = run_is_at_work(p->engine, item->evidence);
	row->subdir = xstrdup(item->subdir);
	row->source = xstrdup(sources[p->source].name);
	row->source_path = xstrdup(p->source_path);
	row->project = xstrdup(p->project);
	row->feature = xstrdup(p->feature);
	row->group = xstrdup(p->group);
	row->after_run = p->after;
	row->paused = row->stopped = row->warned = 0;
	row->iterations = p->plan.iterations;
	if (p->plan.integrate == INTEGRATE_MERGE)
		row->result_branch = git_result_branch(p->id);
	row->state = RUN_S_QUEUED;
	row->priority = p->priority;
	row->iteration = 0;
	row->plan = plan_to_json(&p->plan);
	row->environment = xstrdup(p->environment_hash);
	row->review_count = row->product_count = row->evidence_count = row->entry_count = 0;
	row->instance = xstrdup(p->engine->instance);
	row->retry_of = p->retry_of;
	row->start = xstrdup(p->start);
	row->labels = labels_json(p->plan.labels);
	row->dismissed = xstrdup(p->dismissed);
	row->disputed = xstrdup(p->disputed);
	row->warnings = xstrdup(p->warnings);
	row->created_at = engine_now(p->engine);
	return row;
}

static struct task_row *prompt_task(const char *text, size_t size)
{
	struct task_row *row = row_new(ROW_TASK);

	row->id = xstrdup("t1");
	row->title = task_title(text);
	task_set_text(row, xmemdup0(text, size), size);
	row->state = TASK_S_OPEN;
	return row;
}

static void add_task(struct pending_submit *p, struct task_row *row)
{
	row->position = (int64_t)p->ntasks + 1;
	p->tasks = xreallocarray(p->tasks, p->ntasks + 1, sizeof(struct task_row *));
	p->tasks[p->ntasks++] = row;
}

/* Record what the reviewing program is. A retry keeps what its first run had. */
static void take_reviewer(struct plan *plan, const struct intake *item)
{
	if (item->reviewer_sha256 != NULL && plan->profile->carrier == CARRIER_EXIT && plan->reviewer_sha256 == NULL)
		plan->reviewer_sha256 = xstrdup(item->reviewer_sha256);
}

/* A commit there would fail after all has been paid. Later, that is what COMMIT looks for. False:
 * refused. */
static bool can_commit(struct pending_submit *p, const struct intake *item)
{
	char *why, *hint;

	if (item->in_progress == NULL || p->plan.isolation != ISOLATION_SHARED || p->plan.commit != COMMIT_MODE_AUTO)
		return true;
	why = xasprintf("%s in %s, and the result would be committed there", item->in_progress, item->workspace);
	hint = xasprintf("%s, or add --isolation worktree or --commit none", item->finish);
	submit_refused(p, RPC_INVALID_PARAMS, why, hint, "workdir");
	free(why);
	free(hint);
	return false;
}

/* Resolve what depends on the workdir: isolation and what follows from it. False: refused. */
static bool settle_plan(struct pending_submit *p, const struct intake *item)
{
	const char *field = NULL;
	char *why = plan_settle(&p->plan, item->has_git, p->source != SOURCE_PROMPT, &field);

	take_reviewer(&p->plan, item);
	for (size_t i = 0; why == NULL && i < p->ntasks; i++) {
		struct plan plan = { 0 };

		if (p->tasks[i]->plan == NULL)
			continue;
		if (plan_from_json(p->tasks[i]->plan, &plan) == -1)
			log_fatal("cannot read back the resolved plan of a task");
		why = plan_settle(&plan, item->has_git, true, &field);
		take_reviewer(&plan, item);
		free(p->tasks[i]->plan);
		p->tasks[i]->plan = plan_to_json(&plan);
		plan_release(&plan);
	}
	if (why != NULL)
		submit_refused(p, RPC_INVALID_PARAMS, why, NULL, field);
	free(why);
	return why == NULL && can_commit(p, item);
}

/* Cancel a held run in the same decision as its retry. */
static void cancel_retried(struct txn *txn, struct pending_submit *p)
{
	struct run *old = p->retry_of != ROW_NONE ? run_find(p->engine, p->retry_of) : NULL;
	char *cause;

	if (old == NULL || old->rows->run.state != RUN_S_HELD || run_cancelling(old))
		return;
	cause = xasprintf("retried as run %lld", (long long)p->id);
	run_cancel(txn, old, CAUSE(END_RETRIED, cause));
	free(cause);
}

static void submit_cb(void *arg, enum commit_result result);

/* Record the new run, with its rows as they are now. */
static void record_submit(struct pending_submit *p)
{
	struct txn *txn = txn_new(p->engine);

	txn_put(txn, ROW_RUN, p->row);
	txn_put(txn, ROW_JUDGE, p->judge);
	txn_emit(txn, "run.state", p->id,
	    json_pack("{s:s}", "state", state_name(&run_state_names, RUN_S_QUEUED)));
	for (size_t i = 0; i < p->ntasks; i++)
		txn_put(txn, ROW_TASK, p->tasks[i]);
	for (size_t i = 0; p->taken_over != NULL && i < p->taken_over->nreviews; i++)
		txn_put(txn, ROW_REVIEW, p->taken_over->reviews[i]);
	for (size_t i = 0; p->taken_over != NULL && i < p->taken_over->nfindings; i++)
		txn_put(txn, ROW_FINDING, p->taken_over->findings[i]);
	cancel_retried(txn, p);
	txn_reply(txn, p->cb, p->arg, p->id);
	txn_effect_schedule(txn);
	/* A refusal cannot take back the working rows of a held run, which its retry has changed,
	 * or a cause that another decision has recorded for the new run. */
	txn_on_outcome(txn, p->retry_of == ROW_NONE && p->row->end_kind == END_NONE, submit_cb, p);
	txn_commit(txn);
}

static void submit_cb(void *arg, enum commit_result result)
{
	struct pending_submit *p = arg;

	if (result == COMMIT_OK)
		submit_committed(p, view_run(p->engine->view, p->id));
	else if (p->row->end_kind != END_NONE)
		record_submit(p);
	else
		submit_refused(p, RPC_NO_SPACE, "no space left for the database",
		    "make room on the disk of the state directory, then submit again", NULL);
}

/* Whether the run is gone, or will be when this is on disk. */
static bool has_gone(struct engine *engine, int64_t id)
{
	const struct run *run = run_find(engine, id);

	return run == NULL || (run_state_is_end((enum run_state)run->rows->run.state) &&
	    run->rows->run.state != RUN_S_SUCCEEDED);
}

static void add_warnings(struct pending_submit *p, char *const *texts)
{
	json_t *list;

	if (texts == NULL)
		return;
	list = p->warnings != NULL ? json_loads(p->warnings, 0, NULL) : json_array();
	for (; *texts != NULL; texts++)
		json_array_append_new(list, json_string(*texts));
	free(p->warnings);
	p->warnings = json_dumps(list, JSON_COMPACT);
	json_decref(list);
}

static void decide(struct pending_submit *p, struct intake *item)
{
	struct engine_reply checked = { .id = ROW_NONE };
	char hex[DIGEST_HEX];

	if (item->environment_hash != NULL)
		text_set(&p->environment_hash, item->environment_hash);
	if (item->code == RPC_OK && p->engine->full) {
		submit_refused(p, RPC_NO_SPACE, "no space left for the database",
		    "make room on the disk of the state directory, then submit again", NULL);
		return;
	}
	if (item->code != RPC_OK) {
		submit_refused(p, item->code, item->message, item->hint, item->field);
		return;
	}
	if (p->after_unfinished && has_gone(p->engine, p->after)) {
		submit_refused(p, RPC_WRONG_STATE, "the run named by --after has already ended",
		    "check how it ended, then submit again", "after");
		return;
	}
	if (!settle_plan(p, item))
		return;
	if (p->check) {
		TAILQ_REMOVE(&p->engine->deciding, p, entry);
		answer(p, &checked);
		return;
	}
	p->id = ++p->engine->last_run;
	if (p->source == SOURCE_PROMPT && p->ntasks == 0)
		add_task(p, prompt_task(item->text, item->text_size));
	for (size_t i = 0; i < p->ntasks; i++)
		p->tasks[i]->run = p->id;
	add_warnings(p, item->warnings);
	p->row = make_row(p, item);
	p->judge = item->judge;
	item->judge = NULL;
	p->judge->run = p->id;
	record_hash(ROW_JUDGE, p->judge, hex);
	text_set(&p->row->judge_hash, hex);
	if (p->numbers != NULL)
		p->numbers(p);
	record_submit(p);
}

static void intake_cb(void *arg, struct job *job)
{
	struct engine *engine = arg;
	struct intake_job *w = (struct intake_job *)job;
	struct pending_submit *p = TAILQ_FIRST(&engine->deciding), *after;
	size_t at = 0;

	/* the batch is the part of "deciding" without ids yet, in order */
	for (; p != NULL && at < w->count; p = after) {
		after = TAILQ_NEXT(p, entry);
		if (p->id != 0)
			continue;
		if (engine->stopped)
			submit_refused(p, RPC_UNAVAILABLE, "the daemon is stopping", "submit again", NULL);
		else
			decide(p, w->items[at]);
		at++;
	}
	job_free(job);
	/* only now: a cleanup must know what all of the batch need */
	file_queue_done(engine);
}

void submit_intake(struct engine *engine)
{
	struct intake_job *w = xcalloc(1, sizeof(*w));
	struct pending_submit *p;

	while ((p = TAILQ_FIRST(&engine->submits)) != NULL) {
		struct intake *item = xcalloc(1, sizeof(*item));

		TAILQ_REMOVE(&engine->submits, p, entry);
		TAILQ_INSERT_TAIL(&engine->deciding, p, entry);
		item->workdir = p->workdir;
		item->source = p->source;
		item->source_path = p->source_path;
		item->task = p->task;
		item->task_size = p->task_size;
		item->task_blob = p->task_blob;
		item->environment = p->environment;
		item->check = p->check;
		item->plan = &p->plan;
		item->review_plan = review_basis_plan(&p->plan,
		    (const struct task_row *const *)p->tasks, p->ntasks, &item->task_plan);
		item->owner = p->owner;
		item->retry_of = p->retry_of;
		item->new_judge = p->new_judge;
		item->kept = p->kept;
		w->items = xreallocarray(w->items, w->count + 1, sizeof(*w->items));
		w->items[w->count++] = item;
	}
	engine_job(engine, &w->job, &intake_type, intake_cb, engine);
}

void pending_submit_enqueue(struct pending_submit *p)
{
	struct engine *engine = p->engine;

	TAILQ_INSERT_TAIL(&engine->submits, p, entry);
	file_queue_next(engine);
}

struct pending_submit *pending_submit_new(struct engine *engine, int64_t owner, bool check,
    engine_reply_cb *cb, void *arg)
{
	struct pending_submit *p = xcalloc(1, sizeof(*p));

	p->engine = engine;
	p->owner = owner;
	p->check = check;
	p->retry_of = p->after = ROW_NONE;
	p->cb = cb;
	p->arg = arg;
	return p;
}

/* Only as much as a prompt can show, because the row is written often. NULL: none. */
static char *feature_of(const struct task_list *tasks)
{
	const char *text = tasks->description != NULL ? tasks->description : "";
	size_t size;

	text += strspn(text, " \t\r\n");
	size = strlen(text);
	while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
		size--;
	return size > 0 ? prompt_cap((struct span){ text, size }, PROMPT_CAP, &size) : NULL;
}

bool pending_submit_refuse_state(struct engine *engine, engine_reply_cb *cb, void *arg)
{
	if (engine->stopped)
		pending_submit_refuse(cb, arg, RPC_UNAVAILABLE, "the daemon is stopping",
		    "try again when it is running again");
	else if (engine->draining)
		pending_submit_refuse(cb, arg, RPC_DRAINING, "the daemon is draining and accepts no new run",
		    "submit again after it has been restarted");
	else if (engine->full)
		pending_submit_refuse(cb, arg, RPC_NO_SPACE, "no space left for the database",
		    "make room on the disk of the state directory");
	else
		return false;
	return true;
}

void engine_submit(struct engine *engine, const struct submission *s, engine_reply_cb *cb, void *arg)
{
	struct pending_submit *p;

	if (pending_submit_refuse_state(engine, cb, arg))
		return;
	p = pending_submit_new(engine, s->owner, s->check, cb, arg);
	p->workdir = xstrdup(s->workdir);
	p->task = s->task != NULL ? xmemdup0(s->task, s->task_size) : NULL;
	p->task_size = s->task_size;
	p->task_blob = xstrdup(s->task_blob);
	p->key = xstrdup(s->key);
	p->body_hash = xstrdup(s->body_hash);
	p->environment = strings_copy(s->environment);
	p->priority = s->priority;
	p->source = s->source;
	p->source_path = xstrdup(s->source_path);
	p->group = xstrdup(s->group != NULL ? s->group : "default");
	p->after = s->after;
	p->after_unfinished = s->after != ROW_NONE && run_find(engine, s->after) != NULL;
	for (size_t i = 0; s->tasks != NULL && i < s->tasks->count; i++) {
		struct task_row *row = task_row_new(0, &s->tasks->items[i]);

		row->plan = s->task_plans != NULL ? xstrdup(s->task_plans[i]) : NULL;
		add_task(p, row);
	}
	p->project = s->tasks != NULL ? xstrdup(s->tasks->project) : NULL;
	p->feature = s->tasks != NULL ? feature_of(s->tasks) : NULL;
	p->warnings = xstrdup(s->warnings);
	plan_move(&p->plan, s->plan);
	pending_submit_enqueue(p);
}
