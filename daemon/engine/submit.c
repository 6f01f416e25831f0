/* SPDX-License-Identifier: MIT */
/* From a submit to a queued run: intake (file work, all that wait together; the desk says when), decision, commit, answer. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine_int.h"
#include "proto/error.h"

#define TITLE_MAX 80	/* code points */

static void pending_free(struct pending_submit *p)
{
	free(p->workdir);
	free(p->task);
	free(p->task_blob);
	free(p->key);
	free(p->body_hash);
	free(p->plan_json);
	strings_free(p->environment);
	free(p->environment_hash);
	plan_release(&p->plan);
	run_rows_free(p->retried);
	free(p);
}

/* Frees p. */
static void answer(struct pending_submit *p, const struct engine_reply *reply)
{
	p->cb(p->arg, reply);
	pending_free(p);
}

static void refuse_now(engine_reply_cb *cb, void *arg, int code, const char *message, const char *hint)
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
		desk_forget(p->engine, ROW_NONE, xstrdup(p->environment_hash), NULL, NULL, false);
	answer(p, &reply);
}

/* The new run enters the working rows only now. */
void submit_committed(struct pending_submit *p, const struct run_rows *rows)
{
	struct engine_reply reply = { .id = p->id, .rows = rows };
	struct run_rows *copy = run_rows_new();

	TAILQ_REMOVE(&p->engine->deciding, p, entry);
	row_assign(ROW_RUN, &copy->run, &rows->run);
	for (size_t i = 0; i < rows->ntasks; i++)
		run_rows_put(copy, ROW_TASK, row_copy(ROW_TASK, rows->tasks[i]));
	if (run_new(p->engine, copy) == NULL)
		log_fatal("run %lld: its own plan cannot be read back", (long long)p->id);
	if (p->task_blob != NULL)
		desk_forget(p->engine, ROW_NONE, NULL, xasprintf("%lld-%s", (long long)p->owner, p->task_blob), NULL, false);
	answer(p, &reply);
}

static char *title_of(const char *text)
{
	const char *start = text + strspn(text, " \t\r\n");
	size_t length = strcspn(start, "\r\n"), points = 0, cut = 0;

	while (cut < length && points <= TITLE_MAX) {
		if (((unsigned char)start[cut] & 0xc0) != 0x80 && ++points > TITLE_MAX)
			break;
		cut++;
	}
	return cut < length ? xasprintf("%.*s…", (int)cut, start) : xmemdup0(start, length);
}

static void put_run(struct turn *turn, struct pending_submit *p, const struct intake *item)
{
	struct run_row *row = row_new(ROW_RUN);

	row->id = p->id;
	row->owner = p->owner;
	row->key = xstrdup(p->key);
	row->body_hash = xstrdup(p->body_hash);
	row->workdir = xstrdup(p->workdir);
	row->workspace = xstrdup(item->workspace);
	row->has_git = item->has_git;
	row->subdir = xstrdup(item->subdir);
	row->source = xstrdup("prompt");
	row->state = RUN_S_QUEUED;
	row->priority = p->priority;
	row->iteration = 0;
	row->plan = xstrdup(p->plan_json);
	row->environment = xstrdup(p->environment_hash);
	row->review_count = 0;
	row->retry_of = p->retry_of;
	row->created_at = engine_now(p->engine);
	turn_put(turn, ROW_RUN, row);
	turn_tell(turn, "run.state", p->id, json_pack("{s:s}", "state", state_name(&run_state_names, RUN_S_QUEUED)));
	row_free(ROW_RUN, row);
}

static void put_task(struct turn *turn, const struct pending_submit *p, const struct intake *item)
{
	struct task_row *row = row_new(ROW_TASK);

	row->run = p->id;
	row->id = xstrdup("t1");
	row->title = title_of(item->text);
	row->text = xmemdup0(item->text, item->text_size);
	row->size = (int64_t)item->text_size;
	row->state = TASK_S_OPEN;
	turn_put(turn, ROW_TASK, row);
	row_free(ROW_TASK, row);
}

/* A held run gives way to its retry in the same decision. */
static void cancel_retried(struct turn *turn, struct pending_submit *p)
{
	struct run *old = p->retry_of != ROW_NONE ? run_find(p->engine, p->retry_of) : NULL;
	char *cause;

	if (old == NULL || old->rows->run.state != RUN_S_HELD)
		return;
	cause = xasprintf("retried as run %lld", (long long)p->id);
	run_cancel(turn, old, cause);
	free(cause);
}

static void decide(struct pending_submit *p, struct intake *item)
{
	struct engine_reply checked = { .id = ROW_NONE };
	struct turn *turn;

	if (item->environment_hash != NULL) {
		free(p->environment_hash);
		p->environment_hash = xstrdup(item->environment_hash);
	}
	if (item->code == RPC_OK && p->engine->full) {
		submit_refused(p, RPC_NO_SPACE, "no space left for the database", "make room on the disk of the state directory, then submit again", NULL);
		return;
	}
	if (item->code != RPC_OK) {
		submit_refused(p, item->code, item->message, item->hint, item->field);
		return;
	}
	if (p->check) {
		TAILQ_REMOVE(&p->engine->deciding, p, entry);
		answer(p, &checked);
		return;
	}
	p->id = ++p->engine->last_run;
	turn = turn_new(p->engine);
	put_run(turn, p, item);
	put_task(turn, p, item);
	cancel_retried(turn, p);
	turn_commit_submit(turn, p);
}

static void intake_cb(void *arg, struct work *work)
{
	struct engine *engine = arg;
	struct intake_work *w = (struct intake_work *)work;
	struct pending_submit *p = TAILQ_FIRST(&engine->deciding), *after;
	size_t at = 0;

	/* the batch is the part of "deciding" that has no id yet, in order */
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
	work_free(work);
	desk_done(engine);	/* only now: a forgetting must see what all of the batch need */
}

void submit_intake(struct engine *engine)
{
	struct intake_work *w = xcalloc(1, sizeof(*w));
	struct pending_submit *p;

	while ((p = TAILQ_FIRST(&engine->submits)) != NULL) {
		struct intake *item = xcalloc(1, sizeof(*item));

		TAILQ_REMOVE(&engine->submits, p, entry);
		TAILQ_INSERT_TAIL(&engine->deciding, p, entry);
		item->workdir = p->workdir;
		item->task = p->task;
		item->task_size = p->task_size;
		item->task_blob = p->task_blob;
		item->environment = p->check ? NULL : p->environment;
		item->plan = &p->plan;
		item->owner = p->owner;
		w->items = xreallocarray(w->items, w->count + 1, sizeof(*w->items));
		w->items[w->count++] = item;
	}
	engine_work(engine, &w->work, WORK_INTAKE, intake_cb, engine);
}

static void enqueue(struct pending_submit *p)
{
	struct engine *engine = p->engine;

	TAILQ_INSERT_TAIL(&engine->submits, p, entry);
	desk_next(engine);
}

static struct pending_submit *pending_new(struct engine *engine, int64_t owner, bool check, engine_reply_cb *cb, void *arg)
{
	struct pending_submit *p = xcalloc(1, sizeof(*p));

	p->engine = engine;
	p->owner = owner;
	p->check = check;
	p->retry_of = ROW_NONE;
	p->cb = cb;
	p->arg = arg;
	return p;
}

static bool refuse_state(struct engine *engine, engine_reply_cb *cb, void *arg)
{
	if (engine->stopped)
		refuse_now(cb, arg, RPC_UNAVAILABLE, "the daemon is stopping", "try again when it is back");
	else if (engine->draining)
		refuse_now(cb, arg, RPC_DRAINING, "the daemon is draining and takes no new run", "submit again when it has been restarted");
	else if (engine->full)
		refuse_now(cb, arg, RPC_NO_SPACE, "no space left for the database", "make room on the disk of the state directory");
	else
		return false;
	return true;
}

void engine_submit(struct engine *engine, const struct submission *s, engine_reply_cb *cb, void *arg)
{
	struct pending_submit *p;

	if (refuse_state(engine, cb, arg))
		return;
	p = pending_new(engine, s->owner, s->check, cb, arg);
	p->workdir = xstrdup(s->workdir);
	p->task = s->task != NULL ? xmemdup0(s->task, s->task_size) : NULL;
	p->task_size = s->task_size;
	p->task_blob = xstrdup(s->task_blob);
	p->key = xstrdup(s->key);
	p->body_hash = xstrdup(s->body_hash);
	p->environment = strings_copy(s->environment);
	p->priority = s->priority;
	p->plan_json = xstrdup(s->plan_json);
	if (plan_from_json(p->plan_json, &p->plan) == -1)
		log_fatal("a resolved plan cannot be read back");
	enqueue(p);
}

/* Retry: the same task text, plan and workdir again. */

static void retry_text_cb(void *arg, const char *text, size_t size)
{
	struct pending_submit *p = arg;

	TAILQ_REMOVE(&p->engine->reading, p, entry);
	if (text == NULL || p->engine->stopped) {
		refuse_now(p->cb, p->arg, text == NULL ? RPC_INTERNAL : RPC_UNAVAILABLE, text == NULL ? "the run's task is gone" : "the daemon is stopping", NULL);
		pending_free(p);
		return;
	}
	p->task = xmemdup0(text, size);
	p->task_size = size;
	enqueue(p);
}

void engine_retry(struct engine *engine, const struct run_rows *rows, int64_t owner, char *const *environment, bool check,
    engine_reply_cb *cb, void *arg)
{
	const struct run_row *old = &rows->run;
	struct pending_submit *p;
	char *message;

	if (refuse_state(engine, cb, arg))
		return;
	if (old->state != RUN_S_FAILED && old->state != RUN_S_CANCELLED && old->state != RUN_S_HELD) {
		message = xasprintf("run %lld is %s: only a failed, cancelled or held run can be retried", (long long)old->id, state_name(&run_state_names, old->state));
		refuse_now(cb, arg, RPC_WRONG_STATE, message, old->state == RUN_S_SUCCEEDED ? "submit the task anew" : "cancel it first, or wait for it");
		free(message);
		return;
	}
	p = pending_new(engine, owner, check, cb, arg);
	p->workdir = xstrdup(old->workdir);
	p->body_hash = xstrdup("");
	p->environment = strings_copy(environment);
	/* a held run's file is still there */
	p->environment_hash = environment == NULL && old->state == RUN_S_HELD ? xstrdup(old->environment) : NULL;
	p->priority = old->priority;
	p->plan_json = xstrdup(old->plan);
	p->retry_of = old->id;
	if (plan_from_json(p->plan_json, &p->plan) == -1) {
		refuse_now(cb, arg, RPC_INTERNAL, "the run's settings cannot be read", "submit the task anew");
		pending_free(p);
		return;
	}
	if (plan_unskip(&p->plan)) {
		free(p->plan_json);
		p->plan_json = plan_to_json(&p->plan);
	}
	TAILQ_INSERT_TAIL(&engine->reading, p, entry);
	engine->ports.task_text(engine->ports.store_ctx, old->id, "t1", retry_text_cb, p);
}
