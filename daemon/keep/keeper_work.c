/* SPDX-License-Identifier: MIT */
#include "keep/keeper_work.h"

#include <stdlib.h>
#include <string.h>

#include "base/offload.h"
#include "engine/needs.h"
#include "proto/memory.h"

void keeper_hold(struct keeper *keeper)
{
	keeper->pending++;
}

void keeper_release(struct keeper *keeper)
{
	if (--keeper->pending == 0 && keeper->closing && keeper->closed != NULL) {
		void (*closed)(void *arg) = keeper->closed;

		keeper->closed = NULL;
		closed(keeper->closed_arg);
	}
}

void keeper_next(struct keeper *keeper)
{
	keeper->next(keeper);
}

bool keeper_needs(const struct keeper *keeper, int64_t run)
{
	for (size_t i = 0; i < keeper->ncontinued; i++)
		if (keeper->continued[i] == run)
			return true;
	return engine_needs_run(keeper->options.engine, run);
}

void keeper_ended(struct keeper *keeper, int64_t run)
{
	keeper->ended = xreallocarray(keeper->ended, keeper->nended + 1, sizeof(*keeper->ended));
	keeper->ended[keeper->nended++] = run;
}

/* ---- reads ---- */

struct keeper_read {
	struct keeper *keeper;
	const char *statement;
	enum row_kind kind;
	int64_t run;
	struct rowset all;
	keeper_rows_cb *cb;
	void *arg;
};

static void page_cb(void *arg, struct rowset *set);

static void read_page(struct keeper_read *r, int64_t after)
{
	struct query_bind binds[3] = { { NULL, 0, NULL } };
	size_t n = 0;

	if (r->run != ROW_NONE)
		binds[n++] = (struct query_bind){ ":run", r->run, NULL };
	if (after != ROW_NONE)
		binds[n++] = (struct query_bind){ ":after", after, NULL };
	store_read(r->keeper->options.store, r->statement, r->kind, binds, page_cb, r);
}

static void page_cb(void *arg, struct rowset *set)
{
	struct keeper_read *r = arg;
	int64_t after = set->after;

	r->all.rows = xreallocarray(r->all.rows, r->all.count + set->count, sizeof(*r->all.rows));
	for (size_t i = 0; i < set->count; i++)
		r->all.rows[r->all.count++] = set->rows[i];
	set->count = 0;
	rowset_release(set);
	if (after != ROW_NONE) {
		read_page(r, after);
		return;
	}
	r->cb(r->arg, &r->all);
	keeper_release(r->keeper);
	free(r);
}

void keeper_read(struct keeper *keeper, const char *statement, enum row_kind kind, int64_t run, keeper_rows_cb *cb,
    void *arg)
{
	struct keeper_read *r = xcalloc(1, sizeof(*r));

	*r = (struct keeper_read){ keeper, statement, kind, run, { .kind = kind }, cb, arg };
	keeper_hold(keeper);
	read_page(r, ROW_NONE);
}

/* ---- commits ---- */

struct keeper_commit {
	struct keeper *keeper;
	void (*done)(void *arg, bool ok);
	void *arg;
};

static void committed_cb(void *arg, enum store_result result, struct decision *d)
{
	struct keeper_commit *c = arg;
	struct keeper *keeper = c->keeper;

	if (result == STORE_OK)
		keeper->options.committed(keeper->options.arg, d);
	c->done(c->arg, result == STORE_OK);
	decision_release(d);
	free(d);
	free(c);
	keeper_release(keeper);
}

void keeper_commit(struct keeper *keeper, struct decision *d, bool refusable, void (*done)(void *arg, bool ok),
    void *arg)
{
	struct keeper_commit *c = xcalloc(1, sizeof(*c));

	*c = (struct keeper_commit){ keeper, done, arg };
	keeper_hold(keeper);
	store_commit(keeper->options.store, d, refusable, committed_cb, c);
}

/* ---- file work ---- */

struct keeper_job {
	struct keeper *keeper;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void keeper_job_run(void *arg)
{
	struct keeper_job *job = arg;

	job->run(job->arg);
}

static void keeper_job_done(void *arg)
{
	struct keeper_job *job = arg;
	struct keeper *keeper = job->keeper;

	job->done(job->arg);
	free(job);
	keeper_release(keeper);
}

void keeper_offload(struct keeper *keeper, void (*run)(void *arg), void (*done)(void *arg), void *arg)
{
	struct keeper_job *job = xcalloc(1, sizeof(*job));

	*job = (struct keeper_job){ keeper, run, done, arg };
	keeper_hold(keeper);
	offload(keeper->options.loop, keeper_job_run, keeper_job_done, job);
}
