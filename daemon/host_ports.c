/* SPDX-License-Identifier: MIT */
#include "host_ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "base/offload.h"
#include "core/decision.h"
#include "core/row.h"
#include "model/job.h"
#include "model/ports.h"
#include "model/runs.h"
#include "proc/launch.h"
#include "proc/proc.h"
#include "proto/clock.h"
#include "proto/memory.h"

static int64_t host_now(void *ctx)
{
	(void)ctx;
	return clock_wall();
}

/* RFC 9562 version 4 */
static void host_uuid(void *ctx, char out[37])
{
	unsigned char b[16];

	(void)ctx;
	if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		log_fatal("getrandom: no random bytes");
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	snprintf(out, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
	    b[0], b[1], b[2], b[3], b[4], b[5],
	    b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static const char *host_boot_id(void *ctx)
{
	(void)ctx;
	return proc_boot_id();
}

struct commit {
	void (*done)(void *arg, enum commit_result result, struct decision *d);
	void *arg;
};

static void commit_cb(void *arg, enum store_result result, struct decision *d)
{
	struct commit *commit = arg;

	commit->done(commit->arg, result == STORE_OK ? COMMIT_OK : COMMIT_NO_SPACE, d);
	free(commit);
}

static void host_commit(void *ctx, struct decision *d, bool refusable,
    void (*done)(void *arg, enum commit_result result, struct decision *d), void *arg)
{
	struct host_ports *host = ctx;
	struct commit *commit = xcalloc(1, sizeof(*commit));

	commit->done = done;
	commit->arg = arg;
	store_commit(host->store, d, refusable, commit_cb, commit);
}

struct task_text {
	void (*done)(void *arg, const char *text, size_t size);
	void *arg;
};

static void task_text_cb(void *arg, struct rowset *set)
{
	struct task_text *read = arg;
	const struct task_row *row = set->count > 0 ? set->rows[0] : NULL;

	read->done(read->arg, row != NULL ? row->text : NULL, row != NULL && row->text != NULL ? strlen(row->text) : 0);
	rowset_release(set);
	free(read);
}

static void host_task_text(void *ctx, int64_t run, const char *task,
    void (*done)(void *arg, const char *text, size_t size), void *arg)
{
	struct host_ports *host = ctx;
	struct task_text *read = xcalloc(1, sizeof(*read));
	struct query_bind binds[] = {
		{ .name = ":run", .number = run },
		{ .name = ":id", .text = task },
		{ .name = NULL },
	};

	read->done = done;
	read->arg = arg;
	store_read(host->store, "task.text", ROW_TASK, binds, task_text_cb, read);
}

struct judge {
	void (*done)(void *arg, struct judge_row *row);
	void *arg;
};

static void judge_cb(void *arg, struct rowset *set)
{
	struct judge *read = arg;

	read->done(read->arg, set->count > 0 ? set->rows[0] : NULL);
	set->count = 0;
	rowset_release(set);
	free(read);
}

static void host_judge(void *ctx, int64_t run, void (*done)(void *arg, struct judge_row *row), void *arg)
{
	struct host_ports *host = ctx;
	struct judge *read = xcalloc(1, sizeof(*read));
	struct query_bind binds[] = { { .name = ":run", .number = run }, { .name = NULL } };

	read->done = done;
	read->arg = arg;
	store_read(host->store, "judge.get", ROW_JUDGE, binds, judge_cb, read);
}

struct evidence_rows {
	void (*done)(void *arg, void **rows, size_t count);
	void *arg;
};

static void evidence_cb(void *arg, struct rowset *set)
{
	struct evidence_rows *read = arg;

	read->done(read->arg, set->rows, set->count);
	set->count = 0;
	rowset_release(set);
	free(read);
}

static void host_evidence(void *ctx, int64_t run, const char *tree, int64_t since,
    void (*done)(void *arg, void **rows, size_t count), void *arg)
{
	struct host_ports *host = ctx;
	struct evidence_rows *read = xcalloc(1, sizeof(*read));
	struct query_bind binds[] = {
		{ .name = ":run", .number = run },
		{ .name = ":tree", .text = tree },
		{ .name = ":created_at", .number = since },
		{ .name = NULL },
	};

	read->done = done;
	read->arg = arg;
	store_read(host->store, "evidence.of_tree", ROW_EVIDENCE, binds, evidence_cb, read);
}

static void host_start(void *ctx, struct launch *launch)
{
	proc_start(((struct host_ports *)ctx)->proc, launch);
}

static void host_end(void *ctx, int64_t id)
{
	proc_end(((struct host_ports *)ctx)->proc, id);
}

static void host_wind_up(void *ctx, int64_t id)
{
	proc_wind_up(((struct host_ports *)ctx)->proc, id);
}

static void host_stalled(void *ctx, int64_t id)
{
	proc_stalled(((struct host_ports *)ctx)->proc, id);
}

static void host_adopt(void *ctx, const struct adopt *adopt)
{
	proc_adopt(((struct host_ports *)ctx)->proc, adopt);
}

struct offloaded {
	struct job *job;
	void (*done)(void *arg, struct job *job);
	void *arg;
};

static void offloaded_run(void *arg)
{
	job_run(((struct offloaded *)arg)->job);
}

static void offloaded_cb(void *arg)
{
	struct offloaded *o = arg;

	o->done(o->arg, o->job);
	free(o);
}

static void host_job(void *ctx, struct job *job, void (*done)(void *arg, struct job *job), void *arg)
{
	struct host_ports *host = ctx;
	struct offloaded *o = xcalloc(1, sizeof(*o));

	*o = (struct offloaded){ job, done, arg };
	offload(host->loop, offloaded_run, offloaded_cb, o);
}

struct delayed {
	LIST_ENTRY(delayed) entry;
	uv_timer_t timer;
	struct host_ports *host;
	struct job *job;		/* NULL: a wake-up */
	void (*done)(void *arg, struct job *job);
	struct wake wake;
	wake_due_cb *due;
	void *arg;
};

static void delayed_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void delayed_cb(uv_timer_t *timer)
{
	struct delayed *d = timer->data;

	LIST_REMOVE(d, entry);
	if (d->job != NULL)
		host_job(d->host, d->job, d->done, d->arg);
	else
		d->due(d->arg, &d->wake);
	uv_close((uv_handle_t *)timer, delayed_closed);
}

static void delayed_start(struct host_ports *host, int64_t ms, struct delayed from)
{
	struct delayed *d = xcalloc(1, sizeof(*d));

	*d = from;
	d->host = host;
	uv_timer_init(host->loop, &d->timer);
	d->timer.data = d;
	uv_timer_start(&d->timer, delayed_cb, ms > 0 ? (uint64_t)ms : 0, 0);
	LIST_INSERT_HEAD(&host->delayed, d, entry);
}

static void host_job_later(void *ctx, int64_t ms, struct job *job, void (*done)(void *arg, struct job *job), void *arg)
{
	delayed_start(ctx, ms, (struct delayed){ .job = job, .done = done, .arg = arg });
}

static void host_wake(void *ctx, const struct wake *wake, wake_due_cb *due, void *arg)
{
	delayed_start(ctx, wake->at - host_now(ctx), (struct delayed){ .wake = *wake, .due = due, .arg = arg });
}

void host_ports_close(struct host_ports *host)
{
	struct delayed *d;

	while ((d = LIST_FIRST(&host->delayed)) != NULL) {
		LIST_REMOVE(d, entry);
		job_free(d->job);	/* NULL is allowed */
		uv_close((uv_handle_t *)&d->timer, delayed_closed);
	}
}

void host_ports_fill(struct host_ports *host, struct ports *ports)
{
	*ports = (struct ports){
		.clock_ctx = host,
		.now = host_now,
		.uuid = host_uuid,
		.boot_id = host_boot_id,
		.store_ctx = host,
		.commit = host_commit,
		.task_text = host_task_text,
		.judge = host_judge,
		.evidence = host_evidence,
		.proc_ctx = host,
		.start = host_start,
		.end = host_end,
		.wind_up = host_wind_up,
		.stalled = host_stalled,
		.adopt = host_adopt,
		.files_ctx = host,
		.job = host_job,
		.job_later = host_job_later,
		.timer_ctx = host,
		.wake = host_wake,
	};
}
