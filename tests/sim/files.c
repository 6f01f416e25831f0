/* SPDX-License-Identifier: MIT */
/* File work of the simulated world: steps, what agents said, verdicts, logs and reports. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "core/profile.h"
#include "job/build.h"
#include "job/cleanup.h"
#include "core/dispute.h"
#include "core/findings.h"
#include "job/collect.h"
#include "job/intake.h"
#include "job/operation_step.h"
#include "job/prepare_run_dir.h"
#include "job/read_notice.h"
#include "job/read_pick.h"
#include "job/read_result.h"
#include "job/read_verdict.h"
#include "job/write_log.h"
#include "model/job.h"
#include "world_int.h"

/* A fault of the host keeps the work from being done. */
static bool host_refuses(struct world *w, struct job *job, char **error)
{
	if (w->day != NULL && w->low_disk ? below(w, 2) != 0 : !rarely(w, 30))
		return false;
	job->fault = below(w, 2) == 0 ? ENOSPC : EIO;
	*error = xstrdup("the host says no");
	return true;
}

/* An operation of git, or of a task source. */
static void job_step(struct world *w, struct step_job *job)
{
	struct task_op_spec spec = {
		.kind = job->source.kind, .source = job->source.source, .path = job->source.path,
		.task = job->source.task, .actor = job->source.actor,
	};

	job->next = STEP_NEXT_FAILED;
	if (host_refuses(w, &job->job, &job->error))
		return;
	if (job->git != NULL) {
		job->next = git_move(w, job->git, job->ok);
		return;
	}
	if (job->task == NULL)
		job->task = job->made = task_op_new(&spec);
	job->next = source_move(w, job->task, job->ok);
}

/* "/state/runs/3/scratch/1-2" */
static struct where where_of_scratch(const char *scratch)
{
	long long run = 0, iteration = OWN, slot = OWN;

	sscanf(strstr(scratch, "/runs/"), "/runs/%lld/scratch/%lld-%lld", &run, &iteration, &slot);
	return (struct where){ run, iteration, slot };
}

/* What the engine hears, and what becomes of it. */
static void deliver(struct world *w, const struct pending_job *p)
{
	const struct step_job *job = (const struct step_job *)p->job;
	int64_t before = w->asked_commits, value = 0;
	struct where where = { 0, OWN, OWN };
	char what = 0;

	if (p->job->fault != 0) {
		/* nothing was asked */
	} else if (p->job->type == &operation_step_type && job->git != NULL) {
		what = git_answer(job->git, job->next, &where, &value);
	} else if (p->job->type == &operation_step_type) {
		what = source_answer(job->task, job->next);
		where = where_of_scratch(job->scratch);
	}
	p->done(p->arg, p->job);
	answer_given(w, where, what, value, before);
}

/* By the ids of both rules; one of them is none of the run's. */
static void collect_disputes(struct collect_job *job)
{
	char ids[2][FINDING_ID];

	finding_id(NULL, "the same again", ids[0]);
	finding_id_first(NULL, "the same again", ids[1]);
	job->disputes = xcalloc(2, sizeof(*job->disputes));
	for (int i = 0; i < 2; i++)
		job->disputes[job->ndisputes++] = (struct dispute_line){ xstrdup(ids[i]), xstrdup("it is right") };
}

static void job_collect(struct world *w, struct collect_job *job)
{
	struct fate *f = fate_of(w, job->attempt);
	struct agent_result *r = &job->result;

	if (host_refuses(w, &job->job, &job->error))
		return;
	if (f->answer != FATE_ANSWER_NONE) {
		r->text = f->answer == FATE_ANSWER_SAME ? xstrdup("as before") :
		    xasprintf("answer of %lld", (long long)job->attempt);
		r->size = strlen(r->text);
		job->answer_hash = f->answer == FATE_ANSWER_SAME ? xstrdup("hash-same") :
		    xasprintf("hash-%lld", (long long)job->attempt);
	}
	if (job->check != NULL)
		job->finding = f->answer == FATE_ANSWER_NEW ? xasprintf("finding-%lld", (long long)job->attempt) :
		    xasprintf("finding of %s: %d", job->check, f->answer);
	r->tokens_input = r->tokens_cached = r->tokens_cache_write = r->tokens_output = r->tokens_reasoning = ROW_NONE;
	r->cost_usd = NAN;
	if (f->result != FATE_NOT_STARTED && f->result != FATE_HOST &&
	    (f->started > 0 || f->result == FATE_LOST) && !money_is_free(w, disk_attempt(w, job->attempt))) {
		r->cost_usd = f->cost;
		r->tokens_output = f->tokens;
	}
	r->is_error = f->result == FATE_ERROR;
	r->over = f->result == FATE_OK || f->result == FATE_ERROR;
	service_collect(w, f, job);
	r->denials = f->denied ? 1 : 0;
	r->session = xasprintf("session-%lld", (long long)job->attempt);
	job->stop = strings_count(job->markers) > 0 && f->stop;
	job->says_no_change = strings_count(job->no_change_markers) > 0 && f->says_no_change;
	job->disk_bytes = job->worktree != NULL ? 4096 : ROW_NONE;
	if (job->may_ask && f->asks && f->answer != FATE_ANSWER_NONE)
		job->question = xstrdup("A or B?");
	if (job->fixes && f->disputes && f->answer != FATE_ANSWER_NONE)
		collect_disputes(job);
	if (job->review_file != NULL && f->changes_tree) {
		job->marks = xcalloc(1, sizeof(*job->marks));
		job->marks[job->nmarks++].text = xstrdup("the same again");
	}
}

static void add_finding(struct verdict *v, const char *severity, char *text)
{
	v->findings = xreallocarray(v->findings, v->nfindings + 1, sizeof(*v->findings));
	v->findings[v->nfindings++] = (struct verdict_finding){ .severity = xstrdup(severity), .text = text };
}

static void job_read_verdict(struct world *w, struct read_verdict_job *job)
{
	struct fate *f = fate_of(w, job->attempt);
	struct verdict *v = &job->verdict;
	bool comments = job->carrier == CARRIER_COMMENTS;

	if (host_refuses(w, &job->job, &job->error))
		return;
	if (job->carrier == CARRIER_EXIT && (job->status == 1) != (f->verdict == FATE_FINDINGS))
		world_fail(w, "the reviewer %lld exited with another status than %lld",
		    (long long)job->attempt, (long long)job->status);
	v->source = "text";
	switch ((enum fate_verdict)f->verdict) {
	case FATE_PASS:
		v->kind = VERDICT_PASS;
		v->feedback = xstrdup("fine");
		break;
	case FATE_FINDINGS:
		v->kind = VERDICT_FINDINGS;
		v->feedback = xasprintf("what %lld found", (long long)job->attempt);
		if (f->same)
			add_finding(v, comments ? "must-fix" : NULL, xstrdup("the same again"));
		for (int i = 0; i < f->fresh; i++)
			add_finding(v, comments ? "must-fix" : NULL,
			    xasprintf("new x%lldx%c", (long long)job->attempt, 'a' + i));
		break;
	case FATE_MALFORMED:
		v->kind = VERDICT_NONE;
		v->reason = xstrdup("empty reviewer output");
		return;
	case FATE_UNREADABLE:
	case FATE_VERDICTS:
		job->error = xstrdup("unreadable review");
		return;
	}
	if (comments && f->suggestion)
		add_finding(v, "suggestion", xstrdup("a thought"));
}

static void job_build(struct world *w, struct build_job *job)
{
	const struct attempt_row *row = disk_attempt(w, job->attempt.id);

	if (row == NULL || row->state != ATTEMPT_S_STARTING)
		world_fail(w, "attempt %lld is built before its row is on disk", (long long)job->attempt.id);
	if (row != NULL && row->role == ROLE_FIX)
		fate_of(w, row->id)->told = job->follow_up_from;
	if (row != NULL && job->plan->disk_floor_bytes > 0 && w->low_disk) {
		job->floor = xstrdup("too little space");
		return;
	}
	if (host_refuses(w, &job->job, &job->error))
		return;
	/* the same, however often it is built */
	if (job->attempt.role == ROLE_REVIEW && job->run.has_git == 1 && job->attempt.id % 4 != 0) {
		job->left_out = xstrdup("[{\"file\":\"a.c\",\"why\":\"size\",\"bytes\":20}]");
		job->left_out_files = 1;
		job->diff_bytes = 50;
		job->diff_shown = 30;
	}
	job->prompt_hash = xasprintf("prompt-%lld", (long long)job->attempt.id);
	job->program = xstrdup("/bin/agent");
	job->launch = xcalloc(1, sizeof(*job->launch));
	job->launch->id = job->attempt.id;
}

static void job_prepare_run_dir(struct world *w, struct prepare_run_dir_job *job)
{
	if (host_refuses(w, &job->job, &job->error))
		return;
	if (rarely(w, 80))
		job->error = xstrdup("prepare: no");
	else if (below(w, 8) == 0)
		strings_append(&job->warnings, "a file is missing");
}

static void job_intake(struct intake_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		struct intake *item = job->items[i];

		item->workspace = xstrdup(item->workdir);
		item->judge = row_new(ROW_JUDGE);
		item->has_git = strstr(item->workdir, "nogit") == NULL;
		item->evidence = item->has_git ? xstrdup("1") : NULL;
		item->text = item->task != NULL ? xmemdup0(item->task, item->task_size) : NULL;
		item->text_size = item->task_size;
	}
}

/* The review of that number of a task, NULL: there are not so many. */
static const struct review_row *review_of_task(const struct run_rows *rows, const char *name, size_t number)
{
	for (size_t i = 0; i < rows->nreviews; i++)
		/* the votes of a panel are not in it */
		if (rows->reviews[i]->reviewer == NULL &&
		    strncmp(rows->reviews[i]->task_id, name, strlen(name) - strlen(".json")) == 0 &&
		    strlen(rows->reviews[i]->task_id) + strlen(".json") == strlen(name) &&
		    number-- == 0)
			return rows->reviews[i];
	return NULL;
}

/* A review log says nothing that is not on disk. */
static void check_log(struct world *w, const struct log_job *job)
{
	const struct run_rows *rows = view_run(w->disk, job->run);
	json_t *log = json_loads(job->text, 0, NULL), *list = json_object_get(log, "iterations"), *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const struct review_row *row = review_of_task(rows, job->name, i);

		if (row == NULL)
			world_fail(w, "run %lld: the log %s has %zu reviews, and the disk fewer",
			    (long long)job->run, job->name, json_array_size(list));
		else if (json_integer_value(json_object_get(item, "iteration")) != row->iteration)
			world_fail(w, "run %lld: review %zu of the log %s is another",
			    (long long)job->run, i + 1, job->name);
	}
	if (log == NULL)
		world_fail(w, "run %lld: the log %s cannot be read", (long long)job->run, job->name);
	json_decref(log);
}

static void job_log(struct world *w, struct log_job *job)
{
	check_log(w, job);
	if (rarely(w, 10)) {
		job->error = xstrdup("the log cannot be written");
		w->unlogged[job->run] = true;
		return;
	}
	free(w->logs[job->run]);
	w->logs[job->run] = xstrdup(job->text);
}

/* Nor does a report. */
static void job_report(struct world *w, struct report_job *job)
{
	const struct run_row *told = &job->rows->run;
	const struct run_rows *rows = view_run(w->disk, told->id);

	if (run_state_is_end((enum run_state)told->state) && rows->run.state != told->state)
		world_fail(w, "run %lld is reported as %s before it is", (long long)told->id,
		    state_name(&run_state_names, told->state));
	if (job->rows->nreviews > rows->nreviews || job->rows->nholds > rows->nholds)
		world_fail(w, "run %lld is reported with more than is on disk", (long long)told->id);
	for (size_t i = 0; i < job->rows->nholds && i < rows->nholds; i++)
		if (rows->holds[i]->state == HOLD_S_OPEN && job->rows->holds[i]->state != HOLD_S_OPEN)
			world_fail(w, "hold %lld is reported as decided before it is", (long long)rows->holds[i]->id);
	run_rows_free(w->reports[told->id]);
	w->reports[told->id] = run_rows_copy(job->rows);
}

void port_job(void *ctx, struct job *job, void (*done)(void *arg, struct job *job), void *arg)
{
	struct world *w = ctx;
	struct pending_job pending = { .job = job, .done = done, .arg = arg };

	disk_effect(w);
	PUSH(jobs, pending);
}

void port_job_later(void *ctx, int64_t ms, struct job *job, void (*done)(void *arg, struct job *job), void *arg)
{
	struct world *w = ctx;

	port_job(ctx, job, done, arg);
	w->jobs[w->njobs - 1].at = w->now + ms;
}

void port_wake(void *ctx, const struct wake *wake, wake_due_cb *due, void *arg)
{
	struct pending_job pending = { .at = wake->at, .wake = *wake, .due = due, .arg = arg };
	struct world *w = ctx;

	disk_effect(w);
	PUSH(jobs, pending);
}

/* Any one; of a day, that need not wait. njobs: there is none. */
static size_t job_due(struct world *w)
{
	size_t first = below(w, (unsigned)w->njobs);

	for (size_t i = 0; i < w->njobs; i++) {
		size_t at = (first + i) % w->njobs;

		if (w->day == NULL || w->jobs[at].at <= w->now)
			return at;
	}
	return w->njobs;
}

bool files_job(struct world *w)
{
	const size_t at = job_due(w);
	struct pending_job p;
	const struct job_type *type;

	if (at == w->njobs)
		return false;
	p = w->jobs[at];
	REMOVE(jobs, at);
	if (p.job == NULL) {
		/* it is due when that time has come */
		if (w->now < p.wake.at)
			w->now = p.wake.at;
		p.due(p.arg, &p.wake);
		return true;
	}
	type = p.job->type;
	if (type == &intake_type)
		job_intake((struct intake_job *)p.job);
	else if (type == &prepare_run_dir_type)
		job_prepare_run_dir(w, (struct prepare_run_dir_job *)p.job);
	else if (type == &operation_step_type)
		job_step(w, (struct step_job *)p.job);
	else if (type == &read_pick_type)
		job_pick(w, (struct pick_job *)p.job);
	else if (type == &read_result_type)
		job_result(w, (struct result_job *)p.job);
	else if (type == &read_notice_type)
		job_notice(w, (struct notice_job *)p.job);
	else if (type == &build_type)
		job_build(w, (struct build_job *)p.job);
	else if (type == &collect_type)
		job_collect(w, (struct collect_job *)p.job);
	else if (type == &read_verdict_type)
		job_read_verdict(w, (struct read_verdict_job *)p.job);
	else if (type == &write_log_type)
		job_log(w, (struct log_job *)p.job);
	else if (type == &write_report_type)
		job_report(w, (struct report_job *)p.job);
	deliver(w, &p);
	return true;
}

/* Those that a log has: of a panel its decisions. */
static size_t count_reviews(const struct run_rows *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->nreviews; i++)
		count += rows->reviews[i]->reviewer == NULL && rows->reviews[i]->from_run == ROW_NONE;
	return count;
}

/* In a world without deaths every report was written, and every log that could be. */
void files_check_end(struct world *w)
{
	const struct run_rows *rows = NULL;

	while (w->calm && (rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		const struct run_row *run = &rows->run;
		const struct plan *plan = world_plan(w, run->id);
		bool over = run_state_is_end((enum run_state)run->state) || run->state == RUN_S_HELD;

		if (plan->report != NULL && over &&
		    (w->reports[run->id] == NULL || w->reports[run->id]->run.state != run->state))
			world_fail(w, "run %lld is %s, and no report says so", (long long)run->id,
			    state_name(&run_state_names, run->state));
		/* the log of what a retry has taken over was written before */
		if (plan->review_log != NULL && count_reviews(rows) > 0 && w->logs[run->id] == NULL &&
		    !w->unlogged[run->id])
			world_fail(w, "run %lld has reviews, but no log", (long long)run->id);
	}
}
