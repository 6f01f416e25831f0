/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <assert.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "proto/memory.h"
#include "store/backup.h"
#include "store/database.h"

/* Number of events to keep. Older ones are deleted in small steps, a few more with each commit than
 * it adds. */
#define EVENTS_KEPT INT64_C(1000000)
#define EVENTS_BITE 64

/* While the disk is full: interval of retries, and the space needed to continue. */
#define RETRY_NS UINT64_C(1000000000)
#define PROBE_BYTES (256 << 10)

#define FAULT_MAX (PATH_MAX + 512)

enum job_kind { JOB_COMMIT, JOB_READ, JOB_CHECK, JOB_BACKUP };

struct job {
	STAILQ_ENTRY(job) next;
	enum job_kind kind;
	void *arg;

	struct decision *decision;		/* JOB_COMMIT: owned until reported */
	bool refusable;
	enum store_result result;
	store_committed_cb *committed;

	struct statement *statement;		/* JOB_READ */
	enum row_kind rows_kind;
	struct query_bind *binds;		/* owned, including its texts */
	struct rowset set;
	store_rows_cb *rows;

	bool deep;				/* JOB_CHECK */
	enum store_health health;
	char *fault;				/* FAULT_MAX bytes; JOB_BACKUP, too */
	store_checked_cb *checked;

	char *path;				/* JOB_BACKUP: handed over again until it is done */
	struct backup *backup;
	enum backup_result step;
	store_copied_cb *copied;
};

STAILQ_HEAD(jobs, job);

/* First and last event on disk; 0, 0: none. */
struct event_range {
	int64_t first, last;
};

struct store {
	/* Used by the thread; by the loop before it starts and after it ended. */
	struct database *db;
	struct statement *trim;
	/* decisions not recorded yet: for more than one turn only for lack of space */
	struct jobs waiting;
	struct event_range events;
	bool full;
	uint64_t retry_at;		/* while full: next try */
	uint64_t commits;

	/* Shared, under lock. */
	uv_mutex_t lock;
	uv_cond_t wake;
	struct jobs queue;		/* from the loop */
	struct jobs done;		/* to be reported on the loop */
	bool closing;
	struct {
		struct event_range events;
		bool full;
		uint64_t commits;
	} published;				/* as of the last turn of the thread */

	/* Used by the loop. */
	uv_async_t async;
	uv_thread_t thread;
	bool started;
	store_space_cb *space;
	void *space_arg;
	bool told_full;
	struct event_range told_events;
	uint64_t told_commits;
};

static void job_free(struct job *job)
{
	for (struct query_bind *b = job->binds; b != NULL && b->name != NULL; b++) {
		free((char *)b->name);
		free((char *)b->text);
	}
	free(job->binds);
	free(job->fault);
	free(job->path);
	free(job);
}

/* ---- the thread ---- */

/* Take new jobs from the loop; wait if there is nothing to do. Returns false when closing and
 * nothing is left. */
static bool store_take(struct store *s, struct jobs *reads)
{
	struct job *job;
	bool more;

	uv_mutex_lock(&s->lock);
	while (STAILQ_EMPTY(&s->queue) && !s->closing) {
		if (!s->full)
			uv_cond_wait(&s->wake, &s->lock);
		else if (uv_cond_timedwait(&s->wake, &s->lock, RETRY_NS) == UV_ETIMEDOUT)
			break;
	}
	more = !STAILQ_EMPTY(&s->queue) || !s->closing;
	while ((job = STAILQ_FIRST(&s->queue)) != NULL) {
		STAILQ_REMOVE_HEAD(&s->queue, next);
		if (job->kind == JOB_COMMIT)
			STAILQ_INSERT_TAIL(&s->waiting, job, next);
		else
			STAILQ_INSERT_TAIL(reads, job, next);
	}
	uv_mutex_unlock(&s->lock);
	return more;
}

/* Kinds whose first field is an id. */
static const char *const drops[ROW_KINDS] = { [ROW_ATTEMPT] = "attempt.drop",
    [ROW_STEP] = "step.drop", [ROW_HOOK] = "hook.drop" };

static enum database_result drop_row(struct store *s, const struct change *change)
{
	int64_t id = *(const int64_t *)change->row;

	return database_change(s->db, database_statement(s->db, drops[change->kind]),
	    (struct query_bind[]){ { ":id", id, NULL }, { NULL, 0, NULL } });
}

static enum database_result record_decision(struct store *s, struct decision *d, struct event_range *events)
{
	for (size_t i = 0; i < d->count; i++) {
		struct change *change = &d->changes[i];

		if (change->kind == ROW_EVENT) {
			((struct event_row *)change->row)->seq = ++events->last;
			if (events->first == 0)
				events->first = events->last;
		}
		if ((change->drop ? drop_row(s, change) :
		    database_put(s->db, change->kind, change->row)) != DATABASE_OK)
			return DATABASE_FULL;
	}
	return DATABASE_OK;
}

/* Delete old events, at most as many as were added and a few more. */
static enum database_result trim_events(struct store *s, int64_t came, struct event_range *events)
{
	int64_t first = events->last - EVENTS_KEPT + 1;

	if (first <= events->first)
		return DATABASE_OK;
	if (first > events->first + came + EVENTS_BITE)
		first = events->first + came + EVENTS_BITE;
	events->first = first;
	return database_change(s->db, s->trim, (struct query_bind[]){ { ":first", first, NULL }, { NULL, 0, NULL } });
}

/* Record all waiting decisions in one transaction. DATABASE_FULL: nothing was recorded. */
static enum database_result record_batch(struct store *s)
{
	struct event_range events = s->events;
	struct job *job;

	if (database_begin(s->db) != DATABASE_OK)
		goto full;
	STAILQ_FOREACH(job, &s->waiting, next) {
		if (record_decision(s, job->decision, &events) != DATABASE_OK)
			goto full;
	}
	if (trim_events(s, events.last - s->events.last, &events) != DATABASE_OK ||
	    database_flush(s->db) != DATABASE_OK)
		goto full;
	database_commit(s->db);
	s->commits++;
	s->events = events;	/* after a rollback the numbers are reused */
	return DATABASE_OK;

full:
	database_rollback(s->db);
	return DATABASE_FULL;
}

/* Whether there is space again: write some rows and roll back. */
static bool probe_space(struct store *s)
{
	struct setting_row row = { .name = (char[]){ "probe" }, .value = xcalloc(PROBE_BYTES + 1, 1) };
	bool fits;

	memset(row.value, ' ', PROBE_BYTES);
	fits = database_begin(s->db) == DATABASE_OK && database_put(s->db, ROW_SETTING, &row) == DATABASE_OK &&
	    database_flush(s->db) == DATABASE_OK;
	database_rollback(s->db);
	free(row.value);
	return fits;
}

/* The disk is full: refuse refusable decisions. */
static void store_refuse(struct store *s, struct jobs *done)
{
	struct jobs kept = STAILQ_HEAD_INITIALIZER(kept);
	struct job *job;

	while ((job = STAILQ_FIRST(&s->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&s->waiting, next);
		job->result = STORE_NO_SPACE;
		STAILQ_INSERT_TAIL(job->refusable ? done : &kept, job, next);
	}
	STAILQ_CONCAT(&s->waiting, &kept);
}

static void record(struct store *s, struct jobs *done)
{
	struct job *job;

	if (s->full) {
		store_refuse(s, done);
		if (uv_hrtime() < s->retry_at)
			return;
	} else if (STAILQ_EMPTY(&s->waiting)) {
		return;
	}
	if ((s->full && !probe_space(s)) || (!STAILQ_EMPTY(&s->waiting) && record_batch(s) != DATABASE_OK)) {
		s->full = true;
		s->retry_at = uv_hrtime() + RETRY_NS;
		store_refuse(s, done);
		return;
	}
	s->full = false;
	STAILQ_FOREACH(job, &s->waiting, next)
		job->result = STORE_OK;
	STAILQ_CONCAT(done, &s->waiting);
}

static void copy_some(struct store *s, struct job *job)
{
	if (job->backup == NULL)
		job->backup = database_backup(s->db, job->path, job->fault, FAULT_MAX);
	job->step = job->backup != NULL ? backup_step(job->backup, job->fault, FAULT_MAX) : BACKUP_FAILED;
}

static void answer(struct store *s, struct job *job)
{
	switch (job->kind) {
	case JOB_COMMIT:
		break;
	case JOB_READ:
		database_read(s->db, job->statement, job->rows_kind, job->binds, STORE_PAGE, &job->set);
		break;
	case JOB_CHECK:
		job->health = database_check(s->db, job->deep, job->fault, FAULT_MAX);
		break;
	case JOB_BACKUP:
		copy_some(s, job);
		break;
	}
}

/* A turn: record, then read, then report. */
static void store_turn(struct store *s, struct jobs *reads)
{
	struct jobs done = STAILQ_HEAD_INITIALIZER(done);
	struct job *job;
	bool changed;

	record(s, &done);
	STAILQ_FOREACH(job, reads, next)
		answer(s, job);
	STAILQ_CONCAT(&done, reads);

	uv_mutex_lock(&s->lock);
	changed = !STAILQ_EMPTY(&done) || s->published.full != s->full;
	STAILQ_CONCAT(&s->done, &done);
	s->published.events = s->events;
	s->published.full = s->full;
	s->published.commits = s->commits;
	uv_mutex_unlock(&s->lock);
	if (changed)
		uv_async_send(&s->async);
	database_checkpoint(s->db);
}

static void store_main(void *arg)
{
	struct store *s = arg;
	struct jobs reads = STAILQ_HEAD_INITIALIZER(reads);

	while (store_take(s, &reads))
		store_turn(s, &reads);
}

/* ---- the loop ---- */

/* Block signals: they belong to the loop. */
static void store_start(struct store *s)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = uv_thread_create(&s->thread, store_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0)
		log_fatal("database thread: %s", uv_strerror(rc));
	s->started = true;
}

static void store_hand_over(struct store *s, struct job *job)
{
	if (!s->started)
		store_start(s);
	uv_mutex_lock(&s->lock);
	STAILQ_INSERT_TAIL(&s->queue, job, next);
	uv_cond_signal(&s->wake);
	uv_mutex_unlock(&s->lock);
}

void store_commit(struct store *s, struct decision *d, bool refusable, store_committed_cb *cb, void *arg)
{
	struct job *job = xcalloc(1, sizeof(*job));

	job->kind = JOB_COMMIT;
	job->arg = arg;
	job->decision = d;
	job->refusable = refusable;
	job->committed = cb;
	store_hand_over(s, job);
}

void store_read(struct store *s, const char *statement, enum row_kind kind,
    const struct query_bind *binds, store_rows_cb *cb, void *arg)
{
	struct job *job = xcalloc(1, sizeof(*job));
	size_t n = 0;

	while (binds != NULL && binds[n].name != NULL)
		n++;
	job->kind = JOB_READ;
	job->arg = arg;
	job->statement = database_statement(s->db, statement);
	job->rows_kind = kind;
	job->binds = xcalloc(n + 1, sizeof(*job->binds));
	for (size_t i = 0; i < n; i++)
		job->binds[i] = (struct query_bind){ xstrdup(binds[i].name), binds[i].number, xstrdup(binds[i].text) };
	job->rows = cb;
	store_hand_over(s, job);
}

void store_check(struct store *s, bool deep, store_checked_cb *cb, void *arg)
{
	struct job *job = xcalloc(1, sizeof(*job));

	job->kind = JOB_CHECK;
	job->arg = arg;
	job->deep = deep;
	job->checked = cb;
	job->fault = xcalloc(1, FAULT_MAX);
	store_hand_over(s, job);
}

void store_backup(struct store *s, const char *path, store_copied_cb *cb, void *arg)
{
	struct job *job = xcalloc(1, sizeof(*job));

	job->kind = JOB_BACKUP;
	job->arg = arg;
	job->path = xstrdup(path);
	job->copied = cb;
	job->fault = xcalloc(1, FAULT_MAX);
	store_hand_over(s, job);
}

void store_read_now(struct store *s, const char *statement, enum row_kind kind,
    const struct query_bind *binds, struct rowset *set)
{
	assert(!s->started);
	database_read(s->db, database_statement(s->db, statement), kind, binds, SIZE_MAX, set);
}

/* False: it has more pages to copy. */
static bool report_backup(struct store *s, struct job *job)
{
	int64_t bytes;

	if (job->step == BACKUP_MORE && !s->closing) {
		store_hand_over(s, job);
		return false;
	}
	if (job->step == BACKUP_MORE)
		strlcpy(job->fault, "rld is stopping: try again later", FAULT_MAX);
	bytes = job->step == BACKUP_DONE ? backup_size(job->backup) : 0;
	/* a part of a copy is gone before anyone is told */
	backup_end(job->backup);
	job->copied(job->arg, job->step == BACKUP_DONE ? NULL : job->fault, bytes);
	return true;
}

static void report(struct store *s, struct job *job)
{
	switch (job->kind) {
	case JOB_COMMIT:
		job->committed(job->arg, job->result, job->decision);
		break;
	case JOB_READ:
		job->rows(job->arg, &job->set);
		break;
	case JOB_CHECK:
		job->checked(job->arg, job->health, job->fault);
		break;
	case JOB_BACKUP:
		if (!report_backup(s, job))
			return;
		break;
	}
	job_free(job);
}

static void store_report_cb(uv_async_t *async)
{
	struct store *s = async->data;
	struct jobs done = STAILQ_HEAD_INITIALIZER(done);
	struct job *job;
	bool full;

	uv_mutex_lock(&s->lock);
	STAILQ_CONCAT(&done, &s->done);
	full = s->published.full;
	s->told_events = s->published.events;
	s->told_commits = s->published.commits;
	uv_mutex_unlock(&s->lock);

	if (full != s->told_full) {
		s->told_full = full;
		s->space(s->space_arg, full);
	}
	while ((job = STAILQ_FIRST(&done)) != NULL) {
		STAILQ_REMOVE_HEAD(&done, next);
		report(s, job);
	}
}

void store_event_range(const struct store *s, int64_t *first, int64_t *last)
{
	*first = s->told_events.first;
	*last = s->told_events.last;
}

uint64_t store_commits(const struct store *s)
{
	return s->told_commits;
}

/* seq of the row returned by statement, 0: none. */
static int64_t read_seq(struct store *s, const char *statement)
{
	struct rowset set;
	int64_t seq = 0;

	store_read_now(s, statement, ROW_EVENT, NULL, &set);
	if (set.count > 0)
		seq = ((struct event_row *)set.rows[0])->seq;
	rowset_release(&set);
	return seq;
}

struct store *store_open(uv_loop_t *loop, const char *path, store_space_cb *space, void *arg, char *error, size_t room)
{
	struct database *db = database_open(path, error, room);
	struct store *s;

	if (db == NULL)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->db = db;
	s->trim = database_statement(db, "event.trim");
	s->space = space;
	s->space_arg = arg;
	STAILQ_INIT(&s->waiting);
	STAILQ_INIT(&s->queue);
	STAILQ_INIT(&s->done);
	s->events = (struct event_range){ read_seq(s, "event.first"), read_seq(s, "event.last") };
	s->published.events = s->told_events = s->events;
	if (uv_mutex_init(&s->lock) != 0 || uv_cond_init(&s->wake) != 0 ||
	    uv_async_init(loop, &s->async, store_report_cb) != 0)
		log_fatal("database thread: no resources");
	s->async.data = s;
	return s;
}

void store_unref(struct store *s)
{
	uv_unref((uv_handle_t *)&s->async);
}

static void store_closed_cb(uv_handle_t *handle)
{
	struct store *s = handle->data;

	uv_cond_destroy(&s->wake);
	uv_mutex_destroy(&s->lock);
	free(s);
}

void store_close(struct store *s)
{
	struct jobs reads = STAILQ_HEAD_INITIALIZER(reads);
	struct job *job;
	size_t lost = 0;

	if (s == NULL)
		return;
	uv_mutex_lock(&s->lock);
	s->closing = true;
	uv_cond_signal(&s->wake);
	uv_mutex_unlock(&s->lock);
	if (s->started)
		uv_thread_join(&s->thread);

	/* the thread is gone, so commits made by the callbacks are recorded here */
	s->started = true;
	s->retry_at = 0;
	do {
		store_turn(s, &reads);
		store_report_cb(&s->async);
	} while (store_take(s, &reads));

	while ((job = STAILQ_FIRST(&s->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&s->waiting, next);
		decision_release(job->decision);
		free(job->decision);
		job_free(job);
		lost++;
	}
	if (lost > 0)
		log_error("no space left: %zu decisions were not recorded; the next start makes "
		    "them again", lost);
	database_close(s->db);
	s->db = NULL;
	uv_close((uv_handle_t *)&s->async, store_closed_cb);
}
