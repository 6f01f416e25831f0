/* SPDX-License-Identifier: MIT */
/* The store of the simulated world, and the laws that each commit has to keep. */
#include <stdio.h>

#include "config/config.h"
#include "core/chain.h"
#include "world_int.h"

void port_commit(void *ctx, struct decision *d, bool refusable,
    void (*done)(void *arg, enum commit_result result, struct decision *d), void *arg)
{
	struct world *w = ctx;
	struct pending_commit commit = { d, refusable, done, arg };

	PUSH(commits, commit);
}

void port_task_text(void *ctx, int64_t run, const char *task, void (*done)(void *arg, const char *text, size_t size), void *arg)
{
	struct world *w = ctx;
	struct pending_text read = { run, done, arg };

	(void)task;
	PUSH(reads, read);
}

void disk_read_text(struct world *w)
{
	struct pending_text t = w->reads[0];
	const char *text = t.run < RUNS_MAX ? w->texts[t.run] : NULL;

	REMOVE(reads, 0);
	t.done(t.arg, text, text != NULL ? strlen(text) : 0);
}

const struct attempt_row *disk_attempt(const struct world *w, int64_t id)
{
	const struct run_rows *rows = view_run_of_attempt(w->disk, id);

	for (size_t i = 0; rows != NULL && i < rows->nattempts; i++)
		if (rows->attempts[i]->id == id)
			return rows->attempts[i];
	return NULL;
}

bool disk_step(const struct world *w, int64_t id)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		for (size_t i = 0; i < rows->nsteps; i++)
			if (rows->steps[i]->id == id)
				return true;
	return false;
}

struct told *disk_hook(const struct world *w, int64_t id)
{
	for (size_t i = 0; i < w->ntold; i++)
		if (w->told[i].row->id == id)
			return &w->told[i];
	return NULL;
}

const struct hold_row *disk_hold(const struct world *w, int64_t id)
{
	const struct run_rows *rows = view_run_of_hold(w->disk, id);

	for (size_t i = 0; rows != NULL && i < rows->nholds; i++)
		if (rows->holds[i]->id == id)
			return rows->holds[i];
	return NULL;
}

/* Laws about single rows, before they are on disk */

static void check_run(struct world *w, const struct run_row *row)
{
	const struct run_rows *before = view_run(w->disk, row->id);

	if (before != NULL && run_state_is_end((enum run_state)before->run.state))
		world_fail(w, "run %lld was changed after its end", (long long)row->id);
}

static void check_task(struct world *w, const struct task_row *row)
{
	const struct run_rows *before = view_run(w->disk, row->run);

	for (size_t i = 0; before != NULL && i < before->ntasks; i++)
		if (strcmp(before->tasks[i]->id, row->id) == 0 && before->tasks[i]->locked_tree != NULL &&
		    (row->locked_tree == NULL || strcmp(row->locked_tree, before->tasks[i]->locked_tree) != 0))
			world_fail(w, "run %lld: the lock of task %s was changed", (long long)row->run, row->id);
}

static void check_attempt(struct world *w, const struct attempt_row *row)
{
	const struct run_rows *before = view_run(w->disk, row->run);

	if (before == NULL || disk_attempt(w, row->id) != NULL)
		return;
	for (size_t i = 0; i < before->ntasks; i++)
		if (strcmp(before->tasks[i]->id, row->task) == 0 && before->tasks[i]->locked_tree != NULL)
			world_fail(w, "run %lld: attempt %lld takes task %s, which is locked", (long long)row->run, (long long)row->id, row->task);
}

static void check_hold(struct world *w, const struct hold_row *row)
{
	const struct hold_row *before = disk_hold(w, row->id);

	if (before != NULL && before->state != HOLD_S_OPEN && before->state != HOLD_S_REWORK)
		world_fail(w, "hold %lld was changed after it was closed", (long long)row->id);
	if (before != NULL && before->state == HOLD_S_REWORK && row->state != HOLD_S_REWORKED && row->state != HOLD_S_CANCELLED)
		world_fail(w, "hold %lld was decided twice", (long long)row->id);
}

static void check_review(struct world *w, const struct review_row *row)
{
	const struct run_rows *before = view_run(w->disk, row->run);

	if (before != NULL && row->number <= (int64_t)before->nreviews)
		world_fail(w, "run %lld: review %lld was written over", (long long)row->run, (long long)row->number);
}

static void put_hook(struct world *w, const struct hook_row *row)
{
	struct told *known = disk_hook(w, row->id), fresh = { NULL, false };

	if (known != NULL) {
		row_assign(ROW_HOOK, known->row, row);
		return;
	}
	fresh.row = row_copy(ROW_HOOK, row);
	PUSH(told, fresh);
}

static void highest(int64_t *at, int64_t id)
{
	if (id > *at)
		*at = id;
}

static void put(struct world *w, const struct change *c)
{
	const struct task_row *task = c->row;

	switch (c->kind) {
	case ROW_RUN:
		check_run(w, c->row);
		highest(&w->last_run, ((const struct run_row *)c->row)->id);
		break;
	case ROW_TASK:
		check_task(w, task);
		if (task->text != NULL)
			w->texts[task->run] = xstrdup(task->text);
		break;
	case ROW_ATTEMPT:
		check_attempt(w, c->row);
		highest(&w->last_attempt, ((const struct attempt_row *)c->row)->id);
		break;
	case ROW_STEP:
		highest(&w->last_attempt, ((const struct step_row *)c->row)->id);
		break;
	case ROW_HOOK:
		highest(&w->last_attempt, ((const struct hook_row *)c->row)->id);
		put_hook(w, c->row);
		break;
	case ROW_HOLD:
		check_hold(w, c->row);
		highest(&w->last_hold, ((const struct hold_row *)c->row)->id);
		break;
	case ROW_REVIEW:
		check_review(w, c->row);
		break;
	case ROW_ITERATION:
	case ROW_SLOT:
	case ROW_FINDING:
	case ROW_EVENT:
	case ROW_SETTING:
	case ROW_KINDS:
		break;
	}
}

/* Laws about the whole, once it is on disk */

static void check_chain(struct world *w, int64_t run)
{
	const struct run_rows *rows = view_run(w->disk, run);
	char *broken = chain_verify(rows->reviews, rows->nreviews, rows->findings, rows->nfindings, rows->run.review_count, rows->run.review_head);

	if (broken != NULL)
		world_fail(w, "run %lld: %s", (long long)run, broken);
	free(broken);
}

static bool is_unfinished(const struct attempt_row *row)
{
	return row->state == ATTEMPT_S_STARTING || row->state == ATTEMPT_S_RUNNING;
}

/* At most one at a time in a slot. */
static void check_alone(struct world *w, const struct attempt_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);

	for (size_t i = 0; i < rows->nattempts; i++)
		if (rows->attempts[i]->id != row->id && rows->attempts[i]->slot == row->slot && is_unfinished(rows->attempts[i]) && is_unfinished(row))
			world_fail(w, "run %lld: attempts %lld and %lld work in one slot", (long long)row->run, (long long)row->id,
			    (long long)rows->attempts[i]->id);
}

static void keep_plan(struct world *w, const struct run_row *row)
{
	if (row->id >= RUNS_MAX || w->plans[row->id] != NULL)
		return;
	w->plans[row->id] = xcalloc(1, sizeof(struct plan));
	if (plan_from_json(row->plan, w->plans[row->id]) == -1)
		world_fail(w, "run %lld: its plan cannot be read", (long long)row->id);
}

static void disk_put(struct world *w, const struct decision *d)
{
	for (size_t i = 0; i < d->count; i++)
		put(w, &d->changes[i]);
	view_install(w->disk, d);
	for (size_t i = 0; i < d->count; i++) {
		if (d->changes[i].kind == ROW_REVIEW)
			check_chain(w, ((const struct review_row *)d->changes[i].row)->run);
		if (d->changes[i].kind == ROW_ATTEMPT)
			check_alone(w, d->changes[i].row);
		if (d->changes[i].kind == ROW_RUN)
			keep_plan(w, d->changes[i].row);
	}
}

void disk_commit(struct world *w, bool report)
{
	struct pending_commit c = w->commits[0];

	REMOVE(commits, 0);
	if (c.refusable && below(w, 20) == 0) {
		if (report)
			c.done(c.arg, COMMIT_NO_SPACE, c.d);
		return;
	}
	disk_put(w, c.d);
	if (!report)
		return;
	w->landed = c.d;
	c.done(c.arg, COMMIT_OK, c.d);
	w->landed = NULL;
}

/* What the clients are told. */
void disk_committed(void *arg, const struct decision *d)
{
	struct world *w = arg;

	if (d != w->landed)
		world_fail(w, "events were told before their commit");
}
