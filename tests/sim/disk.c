/* SPDX-License-Identifier: MIT */
/* The store of the simulated world. */
#include <stdio.h>

#include "core/plan.h"
#include "core/plan_json.h"
#include "core/slot.h"
#include "day.h"
#include "world_int.h"

void port_commit(void *ctx, struct decision *d, bool refusable,
    void (*done)(void *arg, enum commit_result result, struct decision *d), void *arg)
{
	struct world *w = ctx;
	struct pending_commit commit = { d, refusable, done, arg };

	if (w->ncommits == 0)
		law_fair(w, d);
	PUSH(commits, commit);
	w->asked_commits++;
}

void port_task_text(void *ctx, int64_t run, const char *task,
    void (*done)(void *arg, const char *text, size_t size), void *arg)
{
	struct world *w = ctx;
	struct pending_text read = { .run = run, .task = xstrdup(task), .done = done, .arg = arg };

	PUSH(reads, read);
}

void port_evidence(void *ctx, int64_t run, const char *tree, int64_t since,
    void (*done)(void *arg, void **rows, size_t count), void *arg)
{
	struct world *w = ctx;
	struct pending_text read = { .run = run, .task = xstrdup(tree), .rows = done, .since = since, .arg = arg };

	PUSH(reads, read);
}

void port_judge(void *ctx, int64_t run, void (*done)(void *arg, struct judge_row *row), void *arg)
{
	struct world *w = ctx;
	struct pending_text read = { .run = run, .judge = done, .arg = arg };

	PUSH(reads, read);
}

/* Each run has what judges it, from its submit on. */
static void read_judge(struct world *w, const struct pending_text *t)
{
	struct judge_row *row = NULL;

	for (size_t i = 0; i < w->njudges; i++)
		if (w->judges[i]->run == t->run)
			row = row_copy(ROW_JUDGE, w->judges[i]);
	if (row == NULL)
		world_fail(w, "run %lld: what judges it is not on disk", (long long)t->run);
	t->judge(t->arg, row);
}

static int compare_age(const void *a, const void *b)
{
	const struct evidence_row *x = *(const struct evidence_row *const *)a,
	    *y = *(const struct evidence_row *const *)b;

	if (x->created_at != y->created_at)
		return x->created_at < y->created_at ? 1 : -1;
	if (x->from_run != y->from_run)
		return x->from_run < y->from_run ? 1 : -1;
	return x->number < y->number ? 1 : -1;
}

/* What checks of other runs in the same place have said about the tree, the newest first. */
static void read_evidence(struct world *w, const struct pending_text *t)
{
	const struct run_rows *own = view_run(w->disk, t->run), *rows = NULL;
	void *found[256];
	size_t count = 0;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		for (size_t i = 0; i < rows->nevidence && count < 256; i++) {
			const struct evidence_row *e = rows->evidence[i];
			struct evidence_row *copy;

			if (rows == own || strcmp(rows->run.workspace, own->run.workspace) != 0 ||
			    e->kind != EVIDENCE_CHECK || e->attempt == ROW_NONE || e->tree == NULL ||
			    strcmp(e->tree, t->task) != 0 || e->created_at < t->since)
				continue;
			copy = row_copy(ROW_EVIDENCE, e);
			copy->from_run = rows->run.id;
			copy->from_attempt = run_rows_attempt(rows, e->attempt)->number;
			found[count++] = copy;
		}
	qsort(found, count, sizeof(*found), compare_age);
	t->rows(t->arg, found, count);
}

void disk_read_text(struct world *w)
{
	struct pending_text t = w->reads[0];
	const char *text = NULL;

	REMOVE(reads, 0);
	if (t.judge != NULL) {
		read_judge(w, &t);
		return;
	}
	if (t.rows != NULL) {
		read_evidence(w, &t);
		free(t.task);
		return;
	}
	for (size_t i = 0; i < w->ntexts; i++)
		if (w->texts[i].run == t.run && strcmp(w->texts[i].task, t.task) == 0)
			text = w->texts[i].text;
	free(t.task);
	t.done(t.arg, text, text != NULL ? strlen(text) : 0);
}

const struct attempt_row *disk_attempt(const struct world *w, int64_t id)
{
	const struct run_rows *rows = id > 0 && id < w->ids_max ? view_run(w->disk, w->runs_of[id]) : NULL;

	return rows != NULL ? run_rows_attempt(rows, id) : NULL;
}

int64_t disk_step(const struct world *w, int64_t id)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		for (size_t i = 0; i < rows->nsteps; i++)
			if (rows->steps[i]->id == id)
				return rows->run.id;
	return ROW_NONE;
}

struct hook_told *disk_hook(const struct world *w, int64_t id)
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

const struct slot_row *disk_slot(const struct world *w, struct where where)
{
	const struct run_rows *rows = view_run(w->disk, where.run);

	for (size_t i = 0; rows != NULL && i < rows->nslots; i++)
		if (rows->slots[i]->iteration == where.iteration && rows->slots[i]->slot == where.slot)
			return rows->slots[i];
	return NULL;
}

const struct slot_row *disk_slot_of(const struct world *w, const struct attempt_row *a)
{
	const struct run_rows *rows = view_run(w->disk, a->run);

	for (size_t i = 0; a->reviewer != NULL && rows != NULL && i < rows->nslots; i++)
		if (rows->slots[i]->iteration == a->iteration && rows->slots[i]->voter_of == a->slot &&
		    strcmp(rows->slots[i]->reviewer, a->reviewer) == 0)
			return rows->slots[i];
	return a->reviewer != NULL ? NULL : disk_slot(w, (struct where){ a->run, a->iteration, a->slot });
}

const struct task_row *disk_task(const struct world *w, int64_t run, const char *id)
{
	const struct run_rows *rows = view_run(w->disk, run);

	for (size_t i = 0; rows != NULL && i < rows->ntasks; i++)
		if (strcmp(rows->tasks[i]->id, id) == 0)
			return rows->tasks[i];
	return NULL;
}

static void put_hook(struct world *w, const struct hook_row *row)
{
	struct hook_told *known = disk_hook(w, row->id), fresh = { NULL, false };

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

static void put_text(struct world *w, const struct task_row *task)
{
	struct kept_text fresh = { task->run, NULL, NULL };

	if (task->text == NULL)
		return;
	fresh.task = xstrdup(task->id);
	fresh.text = xstrdup(task->text);
	PUSH(texts, fresh);
}

static void put_task_plan(struct world *w, const struct task_row *task)
{
	struct task_plan fresh = { task->run, NULL, NULL };

	if (task->plan == NULL || disk_task(w, task->run, task->id) != NULL)
		return;
	fresh.task = xstrdup(task->id);
	fresh.plan = xcalloc(1, sizeof(*fresh.plan));
	if (plan_from_json(task->plan, fresh.plan) == -1)
		world_fail(w, "run %lld: the plan of task %s cannot be read", (long long)task->run, task->id);
	PUSH(task_plans, fresh);
}

static void put_claim(struct world *w, const struct claim_row *row)
{
	for (size_t i = 0; i < w->nclaims; i++)
		if (strcmp(w->claims[i]->source, row->source) == 0 && strcmp(w->claims[i]->task, row->task) == 0) {
			row_assign(ROW_CLAIM, w->claims[i], row);
			return;
		}
	PUSH(claims, row_copy(ROW_CLAIM, row));
}

static void put_group(struct world *w, const struct group_row *row)
{
	for (size_t i = 0; i < w->ngroups; i++)
		if (strcmp(w->groups[i]->name, row->name) == 0) {
			row_assign(ROW_GROUP, w->groups[i], row);
			return;
		}
	PUSH(groups, row_copy(ROW_GROUP, row));
}

static void put_cooldown(struct world *w, const struct cooldown_row *row)
{
	for (size_t i = 0; i < w->ncooldowns; i++)
		if (strcmp(w->cooldowns[i]->account, row->account) == 0) {
			row_assign(ROW_COOLDOWN, w->cooldowns[i], row);
			return;
		}
	PUSH(cooldowns, row_copy(ROW_COOLDOWN, row));
}

static void put_spend(struct world *w, const struct spend_row *row)
{
	for (size_t i = 0; i < w->nspends; i++)
		if (strcmp(w->spends[i]->account, row->account) == 0 && w->spends[i]->day == row->day) {
			if (row->attempts < w->spends[i]->attempts ||
			    row->cost_usd < w->spends[i]->cost_usd || row->tokens < w->spends[i]->tokens)
				world_fail(w, "account %s: what it has spent on a day is forgotten", row->account);
			row_assign(ROW_SPEND, w->spends[i], row);
			return;
		}
	PUSH(spends, row_copy(ROW_SPEND, row));
}

/* Its slot has ended: what is still done takes down what is left of it. */
static bool is_teardown(const struct world *w, struct where where)
{
	const struct run_rows *rows = view_run(w->disk, where.run);

	for (size_t i = 0; rows != NULL && i < rows->nslots; i++)
		if (rows->slots[i]->iteration == where.iteration && rows->slots[i]->slot == where.slot)
			return slot_stage_is_end((enum slot_stage)rows->slots[i]->stage);
	return false;
}

static void put_kill(struct world *w, const struct step_row *row)
{
	struct where where = { row->run, row->iteration, row->slot };
	struct kill *kill = NULL;

	if ((row->state != ATTEMPT_S_LOST && row->state != ATTEMPT_S_EXITED) || is_teardown(w, where))
		return;
	for (size_t i = 0; i < w->nkills; i++)
		if (same_where(w->kills[i].where, where))
			kill = &w->kills[i];
	if (kill == NULL) {
		PUSH(kills, ((struct kill){ .where = where, .operation = xstrdup(row->name) }));
		kill = &w->kills[w->nkills - 1];
	}
	if (strcmp(kill->operation, row->name) != 0) {
		text_set(&kill->operation, row->name);
		kill->count = 0;
	}
	kill->count += row->state == ATTEMPT_S_LOST;
}

const char *world_killed(const struct world *w, const struct slot_row *slot)
{
	for (size_t i = 0; i < w->nkills; i++)
		if (same_where(w->kills[i].where,
		    (struct where){ slot->run, slot->iteration, slot->slot }) && w->kills[i].count >= 3)
			return w->kills[i].operation;
	return NULL;
}

/* Only what has never run goes; and it is gone before the laws look at what takes its place. */
static void drop(struct world *w, struct change *c)
{
	struct decision only = { .changes = c, .count = 1 };
	int64_t id = *(const int64_t *)c->row;
	const struct hook_told *told = disk_hook(w, id);

	if (c->kind != ROW_ATTEMPT && c->kind != ROW_STEP && c->kind != ROW_HOOK)
		world_fail(w, "a row of kind %d is dropped", (int)c->kind);
	else if ((c->kind == ROW_ATTEMPT && fate_of(w, id)->started > 0) || (told != NULL && told->ran))
		world_fail(w, "%lld is dropped, and has run", (long long)id);
	view_install(w->disk, &only);
	if (told == NULL)
		return;
	row_free(ROW_HOOK, told->row);
	REMOVE(told, (size_t)(told - w->told));
}

static void put(struct world *w, struct change *c)
{
	if (c->drop) {
		drop(w, c);
		return;
	}
	law_row(w, c->kind, c->row);
	switch (c->kind) {
	case ROW_RUN:
		highest(&w->last_run, ((const struct run_row *)c->row)->id);
		break;
	case ROW_TASK:
		put_text(w, c->row);
		put_task_plan(w, c->row);
		break;
	case ROW_JUDGE:
		PUSH(judges, row_copy(ROW_JUDGE, c->row));
		break;
	case ROW_ATTEMPT:
		highest(&w->last_attempt, ((const struct attempt_row *)c->row)->id);
		if (w->last_attempt < w->ids_max)
			w->runs_of[*(const int64_t *)c->row] = ((const struct attempt_row *)c->row)->run;
		break;
	case ROW_STEP:
		highest(&w->last_attempt, ((const struct step_row *)c->row)->id);
		put_kill(w, c->row);
		break;
	case ROW_HOOK:
		highest(&w->last_attempt, ((const struct hook_row *)c->row)->id);
		put_hook(w, c->row);
		break;
	case ROW_HOLD:
		highest(&w->last_hold, ((const struct hold_row *)c->row)->id);
		break;
	case ROW_CLAIM:
		put_claim(w, c->row);
		break;
	case ROW_SALVAGE:
		highest(&w->last_attempt, ((const struct salvage_row *)c->row)->id);
		PUSH(salvage, row_copy(ROW_SALVAGE, c->row));
		break;
	case ROW_GROUP:
		put_group(w, c->row);
		break;
	case ROW_COOLDOWN:
		put_cooldown(w, c->row);
		break;
	case ROW_SPEND:
		put_spend(w, c->row);
		break;
	case ROW_ITERATION:
	case ROW_SLOT:
	case ROW_REVIEW:
	case ROW_FINDING:
	case ROW_PRODUCT:
	case ROW_EVIDENCE:
	case ROW_ENTRY:
	case ROW_PRUNED:
	case ROW_EVENT:
	case ROW_SETTING:
	case ROW_KINDS:
		break;
	}
}

static void keep_plan(struct world *w, const struct run_row *row)
{
	if (row->id >= w->runs_max)
		abort();
	if (w->plans[row->id] != NULL)
		return;
	w->plans[row->id] = xcalloc(1, sizeof(struct plan));
	if (plan_from_json(row->plan, w->plans[row->id]) == -1)
		world_fail(w, "run %lld: its plan cannot be read", (long long)row->id);
}

static void disk_put(struct world *w, const struct decision *d)
{
	law_news(w, d);
	for (size_t i = 0; i < d->count; i++)
		if (d->changes[i].kind == ROW_RUN)
			keep_plan(w, d->changes[i].row);
	for (size_t i = 0; i < d->count; i++)
		put(w, &d->changes[i]);
	view_install(w->disk, d);
	law_decision(w, d);
}

void disk_commit(struct world *w, bool report)
{
	struct pending_commit c = w->commits[0];

	REMOVE(commits, 0);
	w->landed_commits++;
	if (c.refusable && (w->day != NULL ? w->low_disk : below(w, 20) == 0)) {
		if (report)
			c.done(c.arg, COMMIT_NO_SPACE, c.d);
		return;
	}
	disk_put(w, c.d);
	answers_landed(w);
	if (w->day != NULL)
		day_committed(w, c.d);
	if (!report)
		return;
	w->landed = c.d;
	w->reported = REPORTED_NOTHING;
	c.done(c.arg, COMMIT_OK, c.d);
	w->landed = NULL;
}

static void forget_task_plan(struct task_plan *t)
{
	free(t->task);
	plan_release(t->plan);
	free(t->plan);
}

static void forget_text(struct kept_text *t)
{
	free(t->task);
	free(t->text);
}

void disk_retire(struct world *w, int64_t run)
{
	REMOVE_IF(told, i, w->told[i].row->run == run, row_free(ROW_HOOK, w->told[i].row));
	REMOVE_IF(texts, i, w->texts[i].run == run, forget_text(&w->texts[i]));
	REMOVE_IF(judges, i, w->judges[i]->run == run, row_free(ROW_JUDGE, w->judges[i]));
	REMOVE_IF(task_plans, i, w->task_plans[i].run == run, forget_task_plan(&w->task_plans[i]));
	REMOVE_IF(kills, i, w->kills[i].where.run == run, free(w->kills[i].operation));
	REMOVE_IF(claims, i, w->claims[i]->run == run, row_free(ROW_CLAIM, w->claims[i]));
	REMOVE_IF(early, i, w->early[i].run == run, (void)0);
	plan_release(w->plans[run]);
	free(w->plans[run]);
	free(w->logs[run]);
	run_rows_free(w->reports[run]);
	w->plans[run] = NULL;
	w->logs[run] = NULL;
	w->reports[run] = NULL;
	view_remove(w->disk, run);
}

/* Of a decision that has landed: its effects come before its answers, and these before its events.
 * Behind the events anything may begin. */
void disk_effect(struct world *w)
{
	if (w->landed != NULL && w->reported == REPORTED_ANSWERS)
		world_fail(w, "a decision was answered before its effects");
}

void disk_answer(struct world *w, const struct engine_reply *reply)
{
	const struct run_rows *rows = reply->rows != NULL ? view_run(w->disk, reply->id) : NULL;

	if (w->dying)
		return;
	if (rows != NULL && !row_equal(ROW_RUN, &reply->rows->run, &rows->run))
		world_fail(w, "run %lld: a decision was answered before it was installed", (long long)reply->id);
	if (w->landed == NULL)
		return;
	if (w->reported == REPORTED_EVENTS)
		world_fail(w, "events were told before the answers to their decision");
	w->reported = REPORTED_ANSWERS;
}

/* What the clients are told. */
void disk_committed(void *arg, const struct decision *d)
{
	struct world *w = arg;

	if (d != w->landed)
		world_fail(w, "events were told before their commit");
	w->reported = REPORTED_EVENTS;
}
