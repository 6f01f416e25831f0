/* SPDX-License-Identifier: MIT */
/* File work of the simulated world: steps, what agents said, verdicts, logs and reports. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "core/profile.h"
#include "job/build.h"
#include "job/cleanup.h"
#include "job/collect.h"
#include "job/intake.h"
#include "job/next_step.h"
#include "job/prepare_run_dir.h"
#include "job/read_notice.h"
#include "job/read_pick.h"
#include "job/read_result.h"
#include "job/read_verdict.h"
#include "job/write_log.h"
#include "model/work.h"
#include "world_int.h"

/* A fault of the host keeps the work from being done. */
static bool host_refuses(struct world *w, struct work *work, char **error)
{
	if (below(w, 30) != 0)
		return false;
	work->fault = below(w, 2) == 0 ? ENOSPC : EIO;
	*error = xstrdup("the host says no");
	return true;
}

/* An operation of git, or of a task source. */
static void work_step(struct world *w, struct step_work *work)
{
	struct task_op_spec spec = {
		.kind = work->source.kind, .source = work->source.source, .path = work->source.path, .task = work->source.task, .actor = work->source.actor,
	};

	work->next = STEP_NEXT_FAILED;
	if (host_refuses(w, &work->work, &work->error))
		return;
	if (work->git != NULL) {
		work->next = git_move(w, work->git, work->ok);
		return;
	}
	if (work->task == NULL)
		work->task = work->made = task_op_new(&spec);
	work->next = source_move(w, work->task, work->ok);
}

/* "/state/runs/3/scratch/1-2" */
static struct where where_of_scratch(const char *scratch)
{
	long long run = 0, iteration = OWN, slot = OWN;

	sscanf(strstr(scratch, "/runs/"), "/runs/%lld/scratch/%lld-%lld", &run, &iteration, &slot);
	return (struct where){ run, iteration, slot };
}

/* What the engine hears, and what becomes of it. */
static void deliver(struct world *w, const struct pending_work *p)
{
	const struct step_work *work = (const struct step_work *)p->work;
	int64_t before = w->asked_commits, value = 0;
	struct where where = { 0, OWN, OWN };
	char what = 0;

	if (p->work->fault != 0) {
		/* nothing was asked */
	} else if (p->work->type == &next_step_type && work->git != NULL) {
		what = git_answer(work->git, work->next, &where, &value);
	} else if (p->work->type == &next_step_type) {
		what = source_answer(work->task, work->next);
		where = where_of_scratch(work->scratch);
	}
	p->done(p->arg, p->work);
	answer_given(w, where, what, value, before);
}

static void work_collect(struct world *w, struct collect_work *work)
{
	struct fate *f = fate_of(w, work->attempt);
	struct agent_result *r = &work->result;

	if (host_refuses(w, &work->work, &work->error))
		return;
	if (f->answer != FATE_ANSWER_NONE) {
		r->text = f->answer == FATE_ANSWER_SAME ? xstrdup("as before") : xasprintf("answer of %lld", (long long)work->attempt);
		r->size = strlen(r->text);
		work->answer_hash = f->answer == FATE_ANSWER_SAME ? xstrdup("hash-same") : xasprintf("hash-%lld", (long long)work->attempt);
	}
	r->tokens_input = r->tokens_cached = r->tokens_cache_write = r->tokens_output = r->tokens_reasoning = ROW_NONE;
	r->cost_usd = NAN;
	if (f->result != FATE_NOT_STARTED && f->result != FATE_HOST && (f->started > 0 || f->result == FATE_LOST) && !money_is_free(w, disk_attempt(w, work->attempt))) {
		r->cost_usd = f->cost;
		r->tokens_output = f->tokens;
	}
	r->is_error = f->result == FATE_ERROR;
	r->over = f->result == FATE_OK || f->result == FATE_ERROR;
	service_collect(w, f, work);
	r->denials = f->denied ? 1 : 0;
	r->session = xasprintf("session-%lld", (long long)work->attempt);
	work->stop = strings_count(work->markers) > 0 && f->stop;
	work->says_no_change = strings_count(work->no_change_markers) > 0 && f->says_no_change;
	work->disk_bytes = work->worktree != NULL ? 4096 : ROW_NONE;
	if (work->review_file != NULL && f->changes_tree) {
		work->marks = xcalloc(1, sizeof(*work->marks));
		work->marks[work->nmarks++].text = xstrdup("the same again");
	}
}

static void add_finding(struct verdict *v, const char *severity, char *text)
{
	v->findings = xreallocarray(v->findings, v->nfindings + 1, sizeof(*v->findings));
	v->findings[v->nfindings++] = (struct verdict_finding){ .severity = xstrdup(severity), .text = text };
}

static void work_read_verdict(struct world *w, struct read_verdict_work *work)
{
	struct fate *f = fate_of(w, work->attempt);
	struct verdict *v = &work->verdict;
	bool comments = work->carrier == CARRIER_COMMENTS;

	if (host_refuses(w, &work->work, &work->error))
		return;
	if (work->carrier == CARRIER_EXIT && (work->status == 1) != (f->verdict == FATE_FINDINGS))
		world_fail(w, "the reviewer %lld exited with another status than %lld", (long long)work->attempt, (long long)work->status);
	v->source = "text";
	switch ((enum fate_verdict)f->verdict) {
	case FATE_PASS:
		v->kind = VERDICT_PASS;
		v->feedback = xstrdup("fine");
		break;
	case FATE_FINDINGS:
		v->kind = VERDICT_FINDINGS;
		v->feedback = xasprintf("what %lld found", (long long)work->attempt);
		if (f->same)
			add_finding(v, comments ? "must-fix" : NULL, xstrdup("the same again"));
		for (int i = 0; i < f->fresh; i++)
			add_finding(v, comments ? "must-fix" : NULL, xasprintf("new x%lldx%c", (long long)work->attempt, 'a' + i));
		break;
	case FATE_MALFORMED:
		v->kind = VERDICT_NONE;
		v->reason = xstrdup("empty reviewer output");
		return;
	case FATE_UNREADABLE:
	case FATE_VERDICTS:
		work->error = xstrdup("unreadable review");
		return;
	}
	if (comments && f->suggestion)
		add_finding(v, "suggestion", xstrdup("a thought"));
}

static void work_build(struct world *w, struct build_work *work)
{
	const struct attempt_row *row = disk_attempt(w, work->attempt.id);

	if (row == NULL || row->state != ATTEMPT_S_STARTING)
		world_fail(w, "attempt %lld is built before its row is on disk", (long long)work->attempt.id);
	if (row != NULL && row->role == ROLE_FIX)
		fate_of(w, row->id)->told = work->follow_up_from;
	if (row != NULL && work->plan->disk_floor_bytes > 0 && w->low_disk) {
		work->floor = xstrdup("too little space");
		return;
	}
	if (host_refuses(w, &work->work, &work->error))
		return;
	work->launch = xcalloc(1, sizeof(*work->launch));
	work->launch->id = work->attempt.id;
}

static void work_open(struct world *w, struct open_work *work)
{
	if (host_refuses(w, &work->work, &work->error))
		return;
	if (below(w, 80) == 0)
		work->error = xstrdup("prepare: no");
	else if (below(w, 8) == 0)
		strings_append(&work->warnings, "a file is missing");
}

static void work_intake(struct intake_work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		struct intake *item = work->items[i];

		item->workspace = xstrdup(item->workdir);
		item->has_git = strstr(item->workdir, "nogit") == NULL;
		item->text = item->task != NULL ? xmemdup0(item->task, item->task_size) : NULL;
		item->text_size = item->task_size;
	}
}

/* The review of that number of a task, NULL: there are not so many. */
static const struct review_row *review_of_task(const struct run_rows *rows, const char *name, size_t number)
{
	for (size_t i = 0; i < rows->nreviews; i++)
		if (strncmp(rows->reviews[i]->task_id, name, strlen(name) - strlen(".json")) == 0 && strlen(rows->reviews[i]->task_id) + strlen(".json") == strlen(name) &&
		    number-- == 0)
			return rows->reviews[i];
	return NULL;
}

/* A review log says nothing that is not on disk. */
static void check_log(struct world *w, const struct log_work *work)
{
	const struct run_rows *rows = view_run(w->disk, work->run);
	json_t *log = json_loads(work->text, 0, NULL), *list = json_object_get(log, "iterations"), *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const struct review_row *row = review_of_task(rows, work->name, i);

		if (row == NULL)
			world_fail(w, "run %lld: the log %s has %zu reviews, and the disk fewer", (long long)work->run, work->name, json_array_size(list));
		else if (json_integer_value(json_object_get(item, "iteration")) != row->iteration)
			world_fail(w, "run %lld: review %zu of the log %s is another", (long long)work->run, i + 1, work->name);
	}
	if (log == NULL)
		world_fail(w, "run %lld: the log %s cannot be read", (long long)work->run, work->name);
	json_decref(log);
}

static void work_log(struct world *w, struct log_work *work)
{
	check_log(w, work);
	if (below(w, 10) == 0) {
		work->error = xstrdup("the log cannot be written");
		w->unlogged[work->run] = true;
		return;
	}
	free(w->logs[work->run]);
	w->logs[work->run] = xstrdup(work->text);
}

/* Nor does a report. */
static void work_report(struct world *w, struct report_work *work)
{
	const struct run_row *told = &work->rows->run;
	const struct run_rows *rows = view_run(w->disk, told->id);

	if (run_state_is_end((enum run_state)told->state) && rows->run.state != told->state)
		world_fail(w, "run %lld is reported as %s before it is", (long long)told->id, state_name(&run_state_names, told->state));
	if (work->rows->nreviews > rows->nreviews || work->rows->nholds > rows->nholds)
		world_fail(w, "run %lld is reported with more than is on disk", (long long)told->id);
	for (size_t i = 0; i < work->rows->nholds && i < rows->nholds; i++)
		if (rows->holds[i]->state == HOLD_S_OPEN && work->rows->holds[i]->state != HOLD_S_OPEN)
			world_fail(w, "hold %lld is reported as decided before it is", (long long)rows->holds[i]->id);
	run_rows_free(w->reports[told->id]);
	w->reports[told->id] = run_rows_copy(work->rows);
}

void port_work(void *ctx, struct work *work, void (*done)(void *arg, struct work *work), void *arg)
{
	struct world *w = ctx;
	struct pending_work pending = { .work = work, .done = done, .arg = arg };

	disk_effect(w);
	PUSH(works, pending);
}

void port_work_later(void *ctx, int64_t ms, struct work *work, void (*done)(void *arg, struct work *work), void *arg)
{
	(void)ms;
	port_work(ctx, work, done, arg);
}

void port_wake(void *ctx, const struct wake *wake, wake_due_cb *due, void *arg)
{
	struct pending_work pending = { .wake = *wake, .due = due, .arg = arg };
	struct world *w = ctx;

	disk_effect(w);
	PUSH(works, pending);
}

void files_work(struct world *w)
{
	size_t at = below(w, (unsigned)w->nworks);
	struct pending_work p = w->works[at];
	const struct work_type *type;

	REMOVE(works, at);
	if (p.work == NULL) {
		/* it is due when that time has come */
		if (w->now < p.wake.at)
			w->now = p.wake.at;
		p.due(p.arg, &p.wake);
		return;
	}
	type = p.work->type;
	if (type == &intake_type)
		work_intake((struct intake_work *)p.work);
	else if (type == &prepare_run_dir_type)
		work_open(w, (struct open_work *)p.work);
	else if (type == &next_step_type)
		work_step(w, (struct step_work *)p.work);
	else if (type == &read_pick_type)
		work_pick(w, (struct pick_work *)p.work);
	else if (type == &read_result_type)
		work_result(w, (struct result_work *)p.work);
	else if (type == &read_notice_type)
		work_notice(w, (struct notice_work *)p.work);
	else if (type == &build_type)
		work_build(w, (struct build_work *)p.work);
	else if (type == &collect_type)
		work_collect(w, (struct collect_work *)p.work);
	else if (type == &read_verdict_type)
		work_read_verdict(w, (struct read_verdict_work *)p.work);
	else if (type == &write_log_type)
		work_log(w, (struct log_work *)p.work);
	else if (type == &write_report_type)
		work_report(w, (struct report_work *)p.work);
	deliver(w, &p);
}

/* In a world without deaths every report was written, and every log that could be. */
void files_check_end(struct world *w)
{
	const struct run_rows *rows = NULL;

	while (w->calm && (rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		const struct run_row *run = &rows->run;
		const struct plan *plan = world_plan(w, run->id);
		bool over = run_state_is_end((enum run_state)run->state) || run->state == RUN_S_HELD;

		if (plan->report != NULL && over && (w->reports[run->id] == NULL || w->reports[run->id]->run.state != run->state))
			world_fail(w, "run %lld is %s, and no report says so", (long long)run->id, state_name(&run_state_names, run->state));
		if (plan->review_log != NULL && rows->nreviews > 0 && w->logs[run->id] == NULL && !w->unlogged[run->id])
			world_fail(w, "run %lld has reviews, but no log", (long long)run->id);
	}
}
