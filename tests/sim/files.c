/* SPDX-License-Identifier: MIT */
/* File work of the simulated world: git, what agents said, verdicts, logs and reports. */
#include <jansson.h>
#include <stdio.h>

#include "core/profile.h"
#include "world_int.h"

/* The git operation of the fake world: one step, then the tree that belongs to the work done so far. */
struct git_op {
	enum git_op_kind kind;
	int64_t run;
	int calls;
	char tree[64], changed[16], moved[16], commit[32];
	bool differs;		/* COMMIT: there is something to commit */
};

const char *const git_op_names[GIT_OPS] = { "snapshot", "measure", "verify", "pin", "checkout", "commit" };

struct git_op *git_op_new(const struct git_op_spec *spec)
{
	struct git_op *op = xcalloc(1, sizeof(*op));
	const char *runs = strstr(spec->scratch, "/runs/");

	op->kind = spec->kind;
	op->run = strtoll(runs + 6, NULL, 10);
	op->differs = spec->kind == GIT_COMMIT && strcmp(spec->tree, spec->base) != 0;
	return op;
}

void git_op_free(struct git_op *op)
{
	free(op);
}

enum step_next git_op_next(struct git_op *op, int dirfd, bool ok, struct step_spec *step)
{
	(void)op, (void)dirfd, (void)ok, (void)step;
	abort();	/* the world answers WORK_GIT itself */
}

static const char *unless_empty(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

const char *git_op_tree(const struct git_op *op) { return op->tree; }
const char *git_op_error(const struct git_op *op) { (void)op; return "git said no"; }
const char *git_op_changed(const struct git_op *op) { return unless_empty(op->changed); }
const char *git_op_moved(const struct git_op *op) { return unless_empty(op->moved); }
const char *git_op_commit(const struct git_op *op) { return unless_empty(op->commit); }
char *git_top(const char *dir) { return xstrdup(dir); }

/* How often the tree has been changed by those who may. */
static int64_t changes_so_far(const struct world *w, int64_t run)
{
	const struct run_rows *rows = view_run(w->disk, run);
	int64_t changes = 0;

	for (size_t i = 0; rows != NULL && i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];
		const struct fate *f = world_fate(w, a->id);

		if ((a->role == ROLE_IMPLEMENT || a->role == ROLE_FIX) && a->state == ATTEMPT_S_EXITED && f != NULL && f->result == FATE_OK)
			changes += f->changes_tree;
	}
	return changes;
}

static void work_git(struct world *w, struct git_work *work)
{
	static const char *const argv[] = { "git", NULL };
	struct git_op *op = work->op;
	const struct run_rows *rows = view_run(w->disk, op->run);
	const struct fate *f = rows->nattempts > 0 ? world_fate(w, rows->attempts[rows->nattempts - 1]->id) : NULL;

	if (op->calls++ == 0) {
		work->next = STEP_NEXT_RUN;
		work->out = (struct step_spec){ .name = "step", .argv = argv };
		return;
	}
	if (!work->ok) {
		work->next = STEP_NEXT_FAILED;
		return;
	}
	work->next = STEP_NEXT_DONE;
	snprintf(op->tree, sizeof(op->tree), "tree-%lld-%lld", (long long)op->run, (long long)changes_so_far(w, op->run));
	if (op->kind == GIT_VERIFY && f != NULL && !f->changes_tree)
		snprintf(op->changed, sizeof(op->changed), "file.c");
	if (op->kind == GIT_VERIFY && f != NULL && f->denied)
		snprintf(op->moved, sizeof(op->moved), "new.c");
	if (op->kind == GIT_CHECKOUT)
		w->fresh[op->run] = true;
	if (op->kind == GIT_COMMIT && op->differs)
		snprintf(op->commit, sizeof(op->commit), "commit-%lld", (long long)op->run);
}

static void work_collect(struct world *w, struct collect_work *work)
{
	struct fate *f = fate_of(w, work->attempt);
	struct agent_result *r = &work->result;

	work->full = below(w, 15) == 0;
	if (work->full)
		return;
	if (f->answer != FATE_ANSWER_NONE) {
		r->text = f->answer == FATE_ANSWER_SAME ? xstrdup("as before") : xasprintf("answer of %lld", (long long)work->attempt);
		r->size = strlen(r->text);
		work->answer_hash = f->answer == FATE_ANSWER_SAME ? xstrdup("hash-same") : xasprintf("hash-%lld", (long long)work->attempt);
	}
	r->tokens_input = r->tokens_cached = r->tokens_cache_write = r->tokens_output = r->tokens_reasoning = ROW_NONE;
	r->provider = PROVIDER_OK;
	r->is_error = f->result == FATE_ERROR;
	r->denials = f->denied ? 1 : 0;
	r->session = xasprintf("session-%lld", (long long)work->attempt);
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

static void work_judge(struct world *w, struct judge_work *work)
{
	struct fate *f = fate_of(w, work->attempt);
	struct verdict *v = &work->verdict;
	bool comments = work->carrier == CARRIER_COMMENTS;

	work->full = below(w, 15) == 0;
	if (work->full)
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
		for (int i = 0; i < f->news; i++)
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

static void work_compose(struct world *w, struct compose_work *work)
{
	const struct attempt_row *row = disk_attempt(w, work->attempt.id);

	if (row == NULL || row->state != ATTEMPT_S_STARTING)
		world_fail(w, "attempt %lld is composed before its row is on disk", (long long)work->attempt.id);
	if (row != NULL && row->role == ROLE_FIX)
		fate_of(w, row->id)->told = work->follow_up_from;
	work->launch = xcalloc(1, sizeof(*work->launch));
	work->launch->id = work->attempt.id;
}

static void work_open(struct world *w, struct open_work *work)
{
	if (below(w, 80) == 0)
		work->error = xstrdup("prepare: no");
	else if (below(w, 8) == 0)
		work->warning = xstrdup("a file is missing");
}

static void work_intake(struct intake_work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		struct intake *item = work->items[i];

		item->workspace = xstrdup(item->workdir);
		item->has_git = strstr(item->workdir, "nogit") == NULL;
		item->text = xmemdup0(item->task, item->task_size);
		item->text_size = item->task_size;
	}
}

/* A review log says nothing that is not on disk. */
static void check_log(struct world *w, const struct log_work *work)
{
	const struct run_rows *rows = view_run(w->disk, work->run);
	json_t *log = json_loads(work->text, 0, NULL), *list = json_object_get(log, "iterations"), *item;
	size_t i;

	if (log == NULL || json_array_size(list) > rows->nreviews)
		world_fail(w, "run %lld: the log has %zu reviews, the disk %zu", (long long)work->run, json_array_size(list), rows->nreviews);
	json_array_foreach(list, i, item)
		if (i < rows->nreviews && json_integer_value(json_object_get(item, "iteration")) != rows->reviews[i]->iteration)
			world_fail(w, "run %lld: review %zu of the log is another", (long long)work->run, i + 1);
	json_decref(log);
}

static void work_log(struct world *w, struct log_work *work)
{
	check_log(w, work);
	if (below(w, 10) == 0) {
		work->error = xstrdup("the log cannot be written");
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
	struct pending_work pending = { work, done, arg };

	PUSH(works, pending);
}

void port_work_later(void *ctx, int64_t ms, struct work *work, void (*done)(void *arg, struct work *work), void *arg)
{
	(void)ms;
	port_work(ctx, work, done, arg);
}

void files_work(struct world *w)
{
	size_t at = below(w, (unsigned)w->nworks);
	struct pending_work p = w->works[at];

	REMOVE(works, at);
	switch (p.work->kind) {
	case WORK_INTAKE:
		work_intake((struct intake_work *)p.work);
		break;
	case WORK_OPEN:
		work_open(w, (struct open_work *)p.work);
		break;
	case WORK_GIT:
		work_git(w, (struct git_work *)p.work);
		break;
	case WORK_COMPOSE:
		work_compose(w, (struct compose_work *)p.work);
		break;
	case WORK_COLLECT:
		work_collect(w, (struct collect_work *)p.work);
		break;
	case WORK_JUDGE:
		work_judge(w, (struct judge_work *)p.work);
		break;
	case WORK_LOG:
		work_log(w, (struct log_work *)p.work);
		break;
	case WORK_REPORT:
		work_report(w, (struct report_work *)p.work);
		break;
	case WORK_FORGET:
		break;
	}
	p.done(p.arg, p.work);
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
		if (plan->review_log != NULL && rows->nreviews > 0 && w->logs[run->id] == NULL && run->warnings == NULL)
			world_fail(w, "run %lld has reviews, but no log", (long long)run->id);
	}
}
