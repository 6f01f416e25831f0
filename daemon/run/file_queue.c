/* SPDX-License-Identifier: MIT */
/* The file queue: file work that belongs to no slot, one job at a time and in order: the intake of
 * submits, the cleanup after runs, logs and reports. So an environment file is never removed while
 * a submit is about to use it, and an older log never replaces a newer one. */
#include "run/file_queue.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "base/log.h"
#include "core/row.h"
#include "core/state.h"
#include "core/waiters.h"
#include "job/cleanup.h"
#include "job/write_log.h"
#include "model/job.h"
#include "model/environments.h"
#include "model/model.h"
#include "model/runs.h"
#include "proto/memory.h"
#include "run/submission.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* An entry of the file queue: clean up, write, or notify. */
struct file_job {
	TAILQ_ENTRY(file_job) entry;
	struct litter litter;		/* owned */
	/* a log or a report, owned, without any of the others; NULL */
	struct job *job;
	const struct job_type *type;
	/* only notify that the queue has reached this entry; NULL */
	void (*reached)(void *arg);
	void *arg;
};

/* Hashes of the environments that submits need. */
static char **environments_of_submits(struct engine *engine)
{
	char **list = xcalloc(1, sizeof(*list));
	struct pending_submit *p;

	TAILQ_FOREACH(p, &engine->deciding, entry)
		if (p->environment_hash != NULL)
			strings_append(&list, p->environment_hash);
	TAILQ_FOREACH(p, &engine->submits, entry)
		if (p->environment_hash != NULL)
			strings_append(&list, p->environment_hash);
	TAILQ_FOREACH(p, &engine->reading, entry)
		if (p->environment_hash != NULL)
			strings_append(&list, p->environment_hash);
	return list;
}

/* The same and those of unfinished runs: only for a start, since these may be many. */
static char **environments_in_use(struct engine *engine)
{
	char **list = environments_of_submits(engine);
	struct run *run;

	LIST_FOREACH(run, &engine->runs, entry)
		if (run->rows->run.environment != NULL && !strings_contain(list, run->rows->run.environment))
			strings_append(&list, run->rows->run.environment);
	return list;
}

static void cleanup_cb(void *arg, struct job *job)
{
	job_free(job);
	file_queue_done(arg);
}

static void start_cleanup(struct engine *engine, struct file_job *item)
{
	struct cleanup_job *w = xcalloc(1, sizeof(*w));
	char **submits = environments_of_submits(engine);
	const char *environment = item->litter.environment;

	TAILQ_REMOVE(&engine->file_queue, item, entry);
	w->litter = item->litter;
	if (environment != NULL &&
	    (environment_is_used(engine, environment) || strings_contain(submits, environment)))
		text_set(&w->litter.environment, NULL);
	strings_free(submits);
	if (w->litter.sweep)
		w->keep = environments_in_use(engine);
	free(item);
	engine_job(engine, &w->job, &cleanup_type, cleanup_cb, engine);
}

static const char *write_error(const struct job *job)
{
	return job->type == &write_log_type ? ((const struct log_job *)job)->error :
	    ((const struct report_job *)job)->error;
}

/* Logs and reports are for people: a run loses nothing if one cannot be written. The rows of an
 * ended run stay as they are. */
static void write_cb(void *arg, struct job *job)
{
	struct engine *engine = arg;
	const char *error = write_error(job);
	struct run *run;
	struct txn *txn;

	if (error != NULL && job->type == &write_log_type && !engine->stopped &&
	    (run = run_find(engine, ((struct log_job *)job)->run)) != NULL &&
	    !run_state_is_end((enum run_state)run->rows->run.state)) {
		txn = txn_new(engine);
		run_warn(txn, run, error);
		txn_commit(txn);
	} else if (error != NULL) {
		log_warn("%s", error);
	}
	job_free(job);
	file_queue_done(engine);
}

static void start_write(struct engine *engine, struct file_job *item)
{
	TAILQ_REMOVE(&engine->file_queue, item, entry);
	engine_job(engine, item->job, item->type, write_cb, engine);
	free(item);
}

static void start_item(struct engine *engine, struct file_job *item)
{
	if (item->job != NULL)
		start_write(engine, item);
	else
		start_cleanup(engine, item);
}

/* Notify the caller that the queue has reached it. Takes ownership of item. */
static void pass(struct engine *engine, struct file_job *item)
{
	TAILQ_REMOVE(&engine->file_queue, item, entry);
	item->reached(item->arg);
	free(item);
}

void file_queue_stop(struct engine *engine)
{
	struct file_job *item, *next;

	for (item = TAILQ_FIRST(&engine->file_queue); item != NULL; item = next) {
		next = TAILQ_NEXT(item, entry);
		if (item->reached != NULL)
			pass(engine, item);
	}
}

void engine_after_writing(struct engine *engine, void (*cb)(void *arg), void *arg)
{
	struct file_job *item;

	if (engine->stopped) {
		cb(arg);
		return;
	}
	item = xcalloc(1, sizeof(*item));
	item->reached = cb;
	item->arg = arg;
	TAILQ_INSERT_TAIL(&engine->file_queue, item, entry);
	file_queue_next(engine);
}

void file_queue_next(struct engine *engine)
{
	struct file_job *item;

	if (engine->file_queue_busy)
		return;
	engine->file_queue_busy = true;	/* the callback may add entries */
	while ((item = TAILQ_FIRST(&engine->file_queue)) != NULL && item->reached != NULL)
		pass(engine, item);
	if (item != NULL)
		start_item(engine, item);
	else if (!TAILQ_EMPTY(&engine->submits) && !engine->stopped)
		engine->intake(engine);
	else
		engine->file_queue_busy = false;
}

void file_queue_done(struct engine *engine)
{
	engine->file_queue_busy = false;
	file_queue_next(engine);
}

void file_queue_cleanup(struct engine *engine, struct litter litter)
{
	struct file_job *item = xcalloc(1, sizeof(*item));

	item->litter = litter;
	TAILQ_INSERT_TAIL(&engine->file_queue, item, entry);
	file_queue_next(engine);
}

void file_queue_write(struct engine *engine, struct job *job, const struct job_type *type)
{
	struct file_job *item = xcalloc(1, sizeof(*item));

	item->job = job;
	item->type = job->type = type;
	TAILQ_INSERT_TAIL(&engine->file_queue, item, entry);
	file_queue_next(engine);
}

void file_queue_free(struct engine *engine)
{
	struct file_job *item;

	while ((item = TAILQ_FIRST(&engine->file_queue)) != NULL) {
		TAILQ_REMOVE(&engine->file_queue, item, entry);
		litter_release(&item->litter);
		job_free(item->job);
		free(item);
	}
}
