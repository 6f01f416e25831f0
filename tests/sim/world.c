/* SPDX-License-Identifier: MIT */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "core/profile.h"
#include "engine/work.h"
#include "proto/error.h"

struct pending_commit {
	struct decision *d;
	bool refusable;
	void (*done)(void *arg, enum commit_result result, struct decision *d);
	void *arg;
};

struct pending_work {
	struct work *work;
	void (*done)(void *arg, struct work *work);
	void *arg;
};

struct pending_text {
	int64_t run;
	void (*done)(void *arg, const char *text, size_t size);
	void *arg;
};

enum proc_state { PROC_STARTING, PROC_RUNNING, PROC_ENDED, PROC_GONE };

struct process {
	int64_t id;
	bool step;
	enum proc_state state;
	bool told_started, told_ended;	/* to the daemon that lives now */
	bool watched;			/* by the daemon that lives now */
	bool ending;			/* it was told to end */
	struct exit_record record;
};

struct question {
	int64_t id;
	char *boot;
};

struct asked {
	int64_t run;
	bool acked;
};

#define LIST(type, name) type *name; size_t n##name

struct world {
	uint64_t random;
	int64_t now, uuid, boot;
	struct engine *engine;
	struct view *disk;
	char *texts[4096];		/* task text by run */
	int64_t last_run, last_attempt;	/* ids on disk */
	LIST(struct pending_commit, commits);
	LIST(struct pending_work, works);
	LIST(struct pending_text, text_reads);
	LIST(struct process, procs);
	LIST(struct question, questions);
	LIST(struct asked, asked);
	struct fate *fates;
	int64_t crashes, steps;
	bool dying;			/* replies of a dead daemon reach nobody */
	char error[512];
};

#define PUSH(list, value) do {								\
		w->list = xreallocarray(w->list, w->n##list + 1, sizeof(*w->list));	\
		w->list[w->n##list++] = (value);					\
	} while (0)

#define REMOVE(list, at) do {								\
		memmove(w->list + (at), w->list + (at) + 1, (w->n##list - (at) - 1) * sizeof(*w->list)); \
		w->n##list--;								\
	} while (0)

/* splitmix64 */
uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static unsigned below(struct world *w, unsigned limit)
{
	return limit == 0 ? 0 : (unsigned)(random_next(&w->random) % limit);
}

void world_fail(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->error[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(w->error, sizeof(w->error), fmt, ap);
	va_end(ap);
}

const char *world_error(const struct world *w)
{
	return w->error[0] != '\0' ? w->error : NULL;
}

/* Fates */

static struct fate *fate_find(const struct world *w, int64_t id)
{
	for (struct fate *f = w->fates; f != NULL; f = f->next)
		if (f->id == id)
			return f;
	return NULL;
}

static struct fate *fate_of(struct world *w, int64_t id)
{
	static const enum fate_result results[] = {
		FATE_OK, FATE_OK, FATE_OK, FATE_OK, FATE_OK, FATE_OK, FATE_OK, FATE_OK, FATE_OK,
		FATE_OK, FATE_OK, FATE_OK, FATE_OK, FATE_OK, FATE_OK,
		FATE_EXIT_1, FATE_SIGNAL, FATE_TIMEOUT, FATE_NOT_STARTED, FATE_LOST,
	};
	static const enum fate_verdict verdicts[] = {
		FATE_PASS, FATE_PASS, FATE_DRIFT_NEW, FATE_DRIFT_NEW, FATE_DRIFT_NEW, FATE_DRIFT_SAME, FATE_DRIFT_SAME, FATE_MALFORMED,
	};
	struct fate *f = fate_find(w, id);

	if (f != NULL)
		return f;
	f = xcalloc(1, sizeof(*f));
	f->id = id;
	f->result = (int)results[below(w, sizeof(results) / sizeof(results[0]))];
	f->verdict = (int)verdicts[below(w, sizeof(verdicts) / sizeof(verdicts[0]))];
	f->changes_tree = below(w, 6) != 0;
	f->denied = below(w, 10) == 0;
	f->next = w->fates;
	w->fates = f;
	return f;
}

const struct fate *world_fate(const struct world *w, int64_t id)
{
	return fate_find(w, id);
}

/* Ports */

static int64_t port_now(void *ctx)
{
	struct world *w = ctx;

	return ++w->now;
}

static void port_uuid(void *ctx, char out[37])
{
	struct world *w = ctx;

	snprintf(out, 37, "uuid-%lld", (long long)++w->uuid);
}

static const char *port_boot(void *ctx)
{
	static char text[32];
	struct world *w = ctx;

	snprintf(text, sizeof(text), "boot-%lld", (long long)w->boot);
	return text;
}

static void port_commit(void *ctx, struct decision *d, bool refusable,
    void (*done)(void *arg, enum commit_result result, struct decision *d), void *arg)
{
	struct world *w = ctx;
	struct pending_commit commit = { d, refusable, done, arg };

	PUSH(commits, commit);
}

static void port_task_text(void *ctx, int64_t run, const char *task, void (*done)(void *arg, const char *text, size_t size), void *arg)
{
	struct world *w = ctx;
	struct pending_text read = { run, done, arg };

	(void)task;
	PUSH(text_reads, read);
}

static struct process *process_find(struct world *w, int64_t id)
{
	for (size_t i = 0; i < w->nprocs; i++)
		if (w->procs[i].id == id)
			return &w->procs[i];
	return NULL;
}

static const struct attempt_row *disk_attempt(const struct world *w, int64_t id)
{
	const struct run_rows *rows = view_run_of_attempt(w->disk, id);

	for (size_t i = 0; rows != NULL && i < rows->nattempts; i++)
		if (rows->attempts[i]->id == id)
			return rows->attempts[i];
	return NULL;
}

static bool disk_step(const struct world *w, int64_t id)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		for (size_t i = 0; i < rows->nsteps; i++)
			if (rows->steps[i]->id == id)
				return true;
	return false;
}

static void port_start(void *ctx, struct launch *launch)
{
	struct world *w = ctx;
	struct process *old = process_find(w, launch->id);
	struct process p = { .id = launch->id, .state = PROC_STARTING, .watched = true };
	const struct attempt_row *row = disk_attempt(w, launch->id);

	p.step = row == NULL;
	if (p.step && !disk_step(w, launch->id))
		world_fail(w, "%lld was started before its row was on disk", (long long)launch->id);
	if (row != NULL && row->state != ATTEMPT_S_STARTING)
		world_fail(w, "attempt %lld was started in state %s", (long long)launch->id, state_name(&attempt_state_names, row->state));
	if (old != NULL)
		world_fail(w, "%lld was started twice", (long long)launch->id);
	launch_free(launch);
	PUSH(procs, p);
}

static void port_end(void *ctx, int64_t id)
{
	struct world *w = ctx;
	struct process *p = process_find(w, id);

	if (p != NULL)
		p->ending = true;
}

static void port_adopt(void *ctx, const struct adopt *adopt)
{
	struct world *w = ctx;
	struct question q = { adopt->id, xstrdup(adopt->boot_id) };

	PUSH(questions, q);
}

static void port_work(void *ctx, struct work *work, void (*done)(void *arg, struct work *work), void *arg)
{
	struct world *w = ctx;
	struct pending_work pending = { work, done, arg };

	PUSH(works, pending);
}

static void port_work_later(void *ctx, int64_t ms, struct work *work, void (*done)(void *arg, struct work *work), void *arg)
{
	(void)ms;
	port_work(ctx, work, done, arg);
}

/* Commits */

static void disk_put(struct world *w, const struct decision *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct change *c = &d->changes[i];
		const struct task_row *task = c->row;
		const struct run_row *run = c->row;
		const struct run_rows *before;

		if (c->kind == ROW_TASK && task->text != NULL && task->run < 4096)
			w->texts[task->run] = xstrdup(task->text);
		if (c->kind == ROW_ATTEMPT && ((const struct attempt_row *)c->row)->id > w->last_attempt)
			w->last_attempt = ((const struct attempt_row *)c->row)->id;
		if (c->kind == ROW_STEP && ((const struct step_row *)c->row)->id > w->last_attempt)
			w->last_attempt = ((const struct step_row *)c->row)->id;
		if (c->kind != ROW_RUN)
			continue;
		if (run->id > w->last_run)
			w->last_run = run->id;
		before = view_run(w->disk, run->id);
		if (before != NULL && run_state_is_end((enum run_state)before->run.state))
			world_fail(w, "run %lld was changed after its end", (long long)run->id);
	}
	view_install(w->disk, d);
}

static void commit_one(struct world *w, bool report)
{
	struct pending_commit c = w->commits[0];

	REMOVE(commits, 0);
	if (c.refusable && below(w, 20) == 0) {
		if (report)
			c.done(c.arg, COMMIT_NO_SPACE, c.d);
		return;
	}
	disk_put(w, c.d);
	if (report)
		c.done(c.arg, COMMIT_OK, c.d);
}

/* File work: what the disk would have said. */

static int64_t answers_before(const struct world *w, int64_t run, int64_t *changes)
{
	const struct run_rows *rows = view_run(w->disk, run);
	int64_t answers = 0;

	*changes = 0;
	for (size_t i = 0; rows != NULL && i < rows->nattempts; i++) {
		const struct fate *f = fate_find(w, rows->attempts[i]->id);

		if (rows->attempts[i]->role == ROLE_REVIEW || rows->attempts[i]->state != ATTEMPT_S_EXITED || f == NULL || f->result != FATE_OK)
			continue;
		answers++;
		*changes += f->changes_tree;
	}
	return answers;
}

/* The git operation of the fake world: one step, then the tree that belongs to the work done so far. */
struct git_op {
	enum git_op_kind kind;
	int64_t run;
	char *expected;
	int calls;
	char tree[64], changed[16];
};

const char *const git_op_names[GIT_OPS] = { "snapshot", "measure", "verify", "pin" };

struct git_op *git_op_new(const struct git_op_spec *spec)
{
	struct git_op *op = xcalloc(1, sizeof(*op));
	const char *runs = strstr(spec->scratch, "/runs/");

	op->kind = spec->kind;
	op->run = strtoll(runs + 6, NULL, 10);
	op->expected = xstrdup(spec->tree);
	return op;
}

void git_op_free(struct git_op *op)
{
	if (op == NULL)
		return;
	free(op->expected);
	free(op);
}

enum git_next git_op_next(struct git_op *op, int dirfd, bool ok, struct git_step *step)
{
	(void)op, (void)dirfd, (void)ok, (void)step;
	abort();	/* the world answers WORK_GIT itself */
}

const char *git_op_tree(const struct git_op *op) { return op->tree; }
const char *git_op_error(const struct git_op *op) { (void)op; return "git said no"; }
const char *git_op_changed(const struct git_op *op) { return op->changed[0] != '\0' ? op->changed : NULL; }
const char *git_op_moved(const struct git_op *op) { (void)op; return NULL; }
char *git_top(const char *dir) { return xstrdup(dir); }

static int64_t last_attempt_of(const struct world *w, int64_t run)
{
	const struct run_rows *rows = view_run(w->disk, run);

	return rows != NULL && rows->nattempts > 0 ? rows->attempts[rows->nattempts - 1]->id : 0;
}

static void work_git(struct world *w, struct git_work *work)
{
	static const char *const argv[] = { "git", NULL };
	struct git_op *op = work->op;
	const struct fate *f;
	int64_t changes;

	if (op->calls++ == 0) {
		work->next = GIT_NEXT_STEP;
		work->out = (struct git_step){ .name = "step", .argv = argv };
		return;
	}
	if (!work->ok) {
		work->next = GIT_NEXT_FAILED;
		return;
	}
	work->next = GIT_NEXT_DONE;
	answers_before(w, op->run, &changes);
	snprintf(op->tree, sizeof(op->tree), "tree-%lld-%lld", (long long)op->run, (long long)changes);
	f = fate_find(w, last_attempt_of(w, op->run));
	if (op->kind == GIT_VERIFY && f != NULL && !f->changes_tree)
		snprintf(op->changed, sizeof(op->changed), "file.c");
}

static void work_collect(struct world *w, struct collect_work *work)
{
	struct fate *f = fate_of(w, work->attempt);
	struct agent_result *r = &work->result;

	work->full = below(w, 15) == 0;
	if (work->full)
		return;
	r->text = xasprintf("answer of %lld", (long long)work->attempt);
	r->size = strlen(r->text);
	r->tokens_input = r->tokens_cached = r->tokens_cache_write = r->tokens_output = r->tokens_reasoning = ROW_NONE;
	r->provider = PROVIDER_OK;
	r->denials = f->denied ? 1 : 0;
	work->answer_hash = xasprintf("hash-%lld", (long long)work->attempt);
}

static void work_judge(struct world *w, struct judge_work *work)
{
	struct fate *f = fate_of(w, work->attempt);
	struct verdict *v = &work->verdict;

	v->source = "text";
	switch ((enum fate_verdict)f->verdict) {
	case FATE_PASS:
		v->kind = VERDICT_PASS;
		v->feedback = xstrdup("fine");
		break;
	case FATE_DRIFT_NEW:
	case FATE_DRIFT_SAME:
		v->kind = VERDICT_FINDINGS;
		v->feedback = f->verdict == FATE_DRIFT_SAME ? xstrdup("the same again") : xasprintf("new x%lldx", (long long)work->attempt);
		v->findings = xcalloc(1, sizeof(*v->findings));
		v->findings[0].text = xstrdup(v->feedback);
		v->nfindings = 1;
		break;
	case FATE_MALFORMED:
	case FATE_VERDICTS:
		v->kind = VERDICT_NONE;
		v->reason = xstrdup("empty reviewer output");
		break;
	}
}

static void work_compose(struct compose_work *work)
{
	work->launch = xcalloc(1, sizeof(*work->launch));
	work->launch->id = work->attempt.id;
}

static void work_one(struct world *w)
{
	size_t at = below(w, (unsigned)w->nworks);
	struct pending_work p = w->works[at];

	REMOVE(works, at);
	switch (p.work->kind) {
	case WORK_INTAKE: {
		struct intake_work *work = (struct intake_work *)p.work;

		for (size_t i = 0; i < work->count; i++) {
			struct intake *item = work->items[i];

			item->workspace = xstrdup(item->workdir);
			item->has_git = strstr(item->workdir, "nogit") == NULL;
			item->text = xmemdup0(item->task, item->task_size);
			item->text_size = item->task_size;
		}
		break;
	}
	case WORK_GIT:
		work_git(w, (struct git_work *)p.work);
		break;
	case WORK_COMPOSE:
		work_compose((struct compose_work *)p.work);
		break;
	case WORK_COLLECT:
		work_collect(w, (struct collect_work *)p.work);
		break;
	case WORK_JUDGE:
		work_judge(w, (struct judge_work *)p.work);
		break;
	case WORK_OPEN:
	case WORK_FORGET:
		break;
	}
	p.done(p.arg, p.work);
}

/* Processes: report what has happened, or let something happen. */

static bool process_report(struct world *w, struct process *p)
{
	if (!p->watched)
		return false;
	if (p->state == PROC_STARTING) {
		struct fate *f = p->step ? NULL : fate_of(w, p->id);

		if (f != NULL && f->result == FATE_NOT_STARTED && !p->ending) {
			p->state = PROC_GONE;
			p->watched = false;
			engine_proc_sink.refused(w->engine, p->id, "no such file");
			return true;
		}
		p->state = PROC_RUNNING;
		if (f != NULL && f->started++ > 0)
			world_fail(w, "attempt %lld was paid twice", (long long)p->id);
	}
	if (!p->told_started) {
		p->told_started = true;
		engine_proc_sink.started(w->engine, p->id);
		return true;
	}
	if (p->state == PROC_ENDED || p->state == PROC_GONE) {
		struct exit_record record = p->record;

		p->watched = false;
		engine_proc_sink.ended(w->engine, p->id, p->state == PROC_GONE ? NULL : &record);
		return true;
	}
	return false;
}

static void process_end(struct world *w, struct process *p)
{
	struct exit_record *r = &p->record;
	struct fate *f;

	r->tree_empty = true;
	r->ended_ms = ++w->now;
	if (p->step) {
		p->state = below(w, 12) == 0 ? PROC_GONE : PROC_ENDED;
		r->status = below(w, 30) == 0;
		if (p->ending)
			r->by = EXIT_TERM;
		return;
	}
	f = fate_of(w, p->id);
	p->state = PROC_ENDED;
	if (p->ending) {
		r->by = EXIT_TERM;
		r->how = EXIT_BY_SIGNAL;
		r->status = 15;
		return;
	}
	switch ((enum fate_result)f->result) {
	case FATE_OK:
		break;
	case FATE_EXIT_1:
		r->status = 1;
		break;
	case FATE_SIGNAL:
		r->how = EXIT_BY_SIGNAL;
		r->status = 11;
		break;
	case FATE_TIMEOUT:
		r->how = EXIT_BY_SIGNAL;
		r->status = 15;
		r->by = EXIT_WALL;
		break;
	case FATE_LOST:
		p->state = PROC_GONE;
		break;
	case FATE_NOT_STARTED:
	case FATE_RESULTS:
		r->how = EXIT_NOT_STARTED;
		r->status = 2;
		break;
	}
}

static void answer_question(struct world *w)
{
	size_t at = below(w, (unsigned)w->nquestions);
	struct question q = w->questions[at];
	struct process *p = process_find(w, q.id);
	bool this_boot = strcmp(q.boot, port_boot(w)) == 0;
	struct exit_record record;

	REMOVE(questions, at);
	free(q.boot);
	if (p == NULL && this_boot) {
		engine_proc_sink.found(w->engine, q.id, FOUND_NEVER_STARTED, NULL, NULL);
		return;
	}
	if (p != NULL && p->state == PROC_STARTING && this_boot) {
		/* the old daemon died between its row and the spawn */
		REMOVE(procs, (size_t)(p - w->procs));
		engine_proc_sink.found(w->engine, q.id, FOUND_NEVER_STARTED, NULL, NULL);
		return;
	}
	if (p != NULL && p->state == PROC_RUNNING && this_boot) {
		p->watched = true;
		p->told_started = true;
		engine_proc_sink.found(w->engine, q.id, FOUND_RUNNING, NULL, NULL);
		return;
	}
	if (p != NULL && p->state == PROC_ENDED) {
		record = p->record;
		engine_proc_sink.found(w->engine, q.id, FOUND_ENDED, &record, NULL);
		return;
	}
	/* what a reboot or a dead shim took away is lost, whatever it would have come to */
	if (p == NULL || !p->step)
		fate_of(w, q.id)->result = FATE_LOST;
	engine_proc_sink.found(w->engine, q.id, below(w, 4) == 0 ? FOUND_UNREADABLE : FOUND_LOST, NULL, "its supervisor is gone");
}

/* The daemon's life */

static void committed(void *arg, const struct decision *d)
{
	(void)arg, (void)d;
}

static void start_daemon(struct world *w)
{
	static const struct engine_options options = { .state_dir = "/state", .parallel = 3 };
	struct ports ports = {
		.clock_ctx = w, .now = port_now, .uuid = port_uuid, .boot_id = port_boot,
		.store_ctx = w, .commit = port_commit, .task_text = port_task_text,
		.proc_ctx = w, .start = port_start, .end = port_end, .adopt = port_adopt,
		.files_ctx = w, .work = port_work, .work_later = port_work_later,
	};
	const struct run_rows *rows = NULL;

	w->engine = engine_new(&ports, &options, committed, w);
	engine_load_counters(w->engine, w->last_run, w->last_attempt);
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		if (run_state_is_end((enum run_state)rows->run.state))
			continue;
		engine_load_row(w->engine, ROW_RUN, row_copy(ROW_RUN, &rows->run));
#define LOAD(kind, list, count)					\
		for (size_t i = 0; i < rows->count; i++)	\
			engine_load_row(w->engine, kind, row_copy(kind, rows->list[i]))
		LOAD(ROW_TASK, tasks, ntasks);
		LOAD(ROW_ITERATION, iterations, niterations);
		LOAD(ROW_SLOT, slots, nslots);
		LOAD(ROW_ATTEMPT, attempts, nattempts);
		LOAD(ROW_STEP, steps, nsteps);
		LOAD(ROW_REVIEW, reviews, nreviews);
		LOAD(ROW_FINDING, findings, nfindings);
	}
	engine_recover(w->engine);
}

/* kill -9: commits that wait may have landed unreported; file work and questions are forgotten; processes go on. */
static void kill_daemon(struct world *w, bool reboot)
{
	unsigned landed = below(w, (unsigned)w->ncommits + 1);

	w->crashes++;
	w->dying = true;
	for (unsigned i = 0; i < landed; i++)
		commit_one(w, false);
	w->ncommits = w->nworks = w->ntext_reads = 0;
	for (size_t i = 0; i < w->nquestions; i++)
		free(w->questions[i].boot);
	w->nquestions = 0;
	engine_stop(w->engine);
	engine_free(w->engine);
	w->dying = false;
	for (size_t i = 0; i < w->nprocs; i++) {
		struct process *p = &w->procs[i];

		p->watched = p->told_started = false;
		if (p->state == PROC_STARTING) {
			/* it may have been spawned just before: then it runs and is paid for */
			if (below(w, 2) == 0) {
				p->state = PROC_RUNNING;
				if (!p->step && fate_of(w, p->id)->result == FATE_NOT_STARTED)
					process_end(w, p);
				else if (!p->step && fate_of(w, p->id)->started++ > 0)
					world_fail(w, "attempt %lld was paid twice", (long long)p->id);
			}
		}
		if (reboot && p->state == PROC_RUNNING)
			p->state = PROC_GONE;
	}
	if (reboot)
		w->boot++;
	start_daemon(w);
}

/* Clients */

static void submit_cb(void *arg, const struct engine_reply *reply)
{
	struct world *w = arg;

	if (w->dying || reply->code != RPC_OK)
		return;
	if (view_run(w->disk, reply->id) == NULL)
		world_fail(w, "run %lld was acknowledged before it was on disk", (long long)reply->id);
}

static void client_submit(struct world *w)
{
	static const char *const dirs[] = { "/w/a", "/w/b", "/w/c", "/w/d", "/w/e", "/w/f", "/w/g", "/w/nogit" };
	struct plan plan = { 0 };
	char *json;
	struct submission s = { .owner = 1000, .body_hash = "body" };

	s.workdir = dirs[below(w, 8)];
	s.task = "do it";
	s.task_size = 5;
	s.priority = (int64_t)below(w, 3);
	for (int role = 0; role < ROLES; role++) {
		plan.agents[role].name = xstrdup("fake");
		strings_append(&plan.agents[role].command, "fake");
	}
	plan.profile = &profiles[0];
	plan.review = strcmp(s.workdir, "/w/nogit") != 0 && below(w, 4) != 0;
	plan.skip_reason = plan.review ? NULL : xstrdup("review is off");
	plan.max_fixes = below(w, 5);
	plan.stall_limit = below(w, 3);
	plan.on_lost = (enum on_lost)below(w, ON_LOST_CHOICES);
	plan.timeout_ms = plan.review_timeout_ms = plan.idle_timeout_ms = plan.grace_ms = 1000;
	plan.output_bytes = 1000;
	json = plan_to_json(&plan);
	s.plan_json = json;
	engine_submit(w->engine, &s, submit_cb, w);
	free(json);
	plan_release(&plan);
}

static const struct run_rows *random_run(struct world *w)
{
	size_t count = view_count(w->disk);
	const struct run_rows *rows = NULL;

	if (count == 0)
		return NULL;
	for (unsigned n = below(w, (unsigned)count) + 1; n > 0; n--)
		rows = view_next(w->disk, rows != NULL ? rows->run.id : 0);
	return rows;
}

static struct asked *asked_of(struct world *w, int64_t run)
{
	struct asked fresh = { run, false };

	for (size_t i = 0; i < w->nasked; i++)
		if (w->asked[i].run == run)
			return &w->asked[i];
	PUSH(asked, fresh);
	return &w->asked[w->nasked - 1];
}

static bool starts_with(const char *text, const char *prefix)
{
	return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

static void cancel_cb(void *arg, const struct engine_reply *reply)
{
	struct world *w = arg;
	const struct run_rows *rows;

	if (w->dying || reply->code != RPC_OK)
		return;
	rows = view_run(w->disk, reply->id);
	if (rows->run.state == RUN_S_CANCELLED || starts_with(rows->run.cause, "cancelled") || starts_with(rows->run.cause, "retried"))
		asked_of(w, reply->id)->acked = true;
	else if (!run_state_is_end((enum run_state)rows->run.state))
		world_fail(w, "cancel of run %lld was acknowledged, but is not on disk", (long long)reply->id);
}

static void client_cancel(struct world *w)
{
	const struct run_rows *rows = random_run(w);

	if (rows == NULL || run_state_is_end((enum run_state)rows->run.state))
		return;
	asked_of(w, rows->run.id);
	engine_cancel(w->engine, rows->run.id, "uid 1000", false, cancel_cb, w);
}

static void client_retry(struct world *w)
{
	const struct run_rows *rows = random_run(w);

	if (rows == NULL)
		return;
	if (rows->run.state == RUN_S_HELD)
		asked_of(w, rows->run.id);	/* a retry cancels it */
	engine_retry(w->engine, rows, 1000, NULL, false, submit_cb, w);
}

bool world_cancel_acked(const struct world *w, int64_t run)
{
	for (size_t i = 0; i < w->nasked; i++)
		if (w->asked[i].run == run)
			return w->asked[i].acked;
	return false;
}

bool world_cancel_asked(const struct world *w, int64_t run)
{
	for (size_t i = 0; i < w->nasked; i++)
		if (w->asked[i].run == run)
			return true;
	return false;
}

/* Something that was already under way moves on. false: nothing is. */
static bool move(struct world *w)
{
	size_t first;

	switch (below(w, 5)) {
	case 0:
		if (w->ncommits > 0) {
			commit_one(w, true);
			return true;
		}
		break;
	case 1:
		if (w->nworks > 0) {
			work_one(w);
			return true;
		}
		break;
	case 2:
		if (w->nquestions > 0) {
			answer_question(w);
			return true;
		}
		break;
	case 3:
		if (w->ntext_reads > 0) {
			struct pending_text t = w->text_reads[0];
			const char *text = t.run < 4096 ? w->texts[t.run] : NULL;

			REMOVE(text_reads, 0);
			t.done(t.arg, text, text != NULL ? strlen(text) : 0);
			return true;
		}
		break;
	case 4:
		first = w->nprocs > 0 ? below(w, (unsigned)w->nprocs) : 0;
		for (size_t i = 0; i < w->nprocs; i++) {
			struct process *p = &w->procs[(first + i) % w->nprocs];

			if (process_report(w, p))
				return true;
			if (p->state == PROC_RUNNING && (p->told_started || !p->watched)) {
				process_end(w, p);
				return true;
			}
		}
		break;
	}
	return w->ncommits + w->nworks + w->nquestions + w->ntext_reads > 0;
}

static bool processes_wait(const struct world *w)
{
	for (size_t i = 0; i < w->nprocs; i++)
		if (w->procs[i].watched || w->procs[i].state == PROC_RUNNING)
			return true;
	return false;
}

void world_step(struct world *w)
{
	unsigned what = below(w, 1000);

	w->steps++;
	if (what < 16 && w->last_run < 40)
		client_submit(w);
	else if (what < 19)
		client_cancel(w);
	else if (what < 22 && w->last_run < 40)
		client_retry(w);
	else if (what < 990)
		move(w);
	else if (what < 998)
		kill_daemon(w, false);
	else
		kill_daemon(w, true);
}

bool world_settle(struct world *w)
{
	for (int i = 0; i < 200000; i++) {
		bool moved = move(w);

		if (!moved && !processes_wait(w) && w->ncommits + w->nworks + w->nquestions + w->ntext_reads == 0)
			return true;
		if (world_error(w) != NULL)
			return true;
	}
	return false;
}

const struct view *world_disk(const struct world *w)
{
	return w->disk;
}

int64_t world_crashes(const struct world *w)
{
	return w->crashes;
}

struct world *world_new(uint64_t seed)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->random = seed;
	w->now = 1700000000000;
	w->boot = 1;
	w->disk = view_new();
	start_daemon(w);
	return w;
}

void world_free(struct world *w)
{
	w->dying = true;
	engine_stop(w->engine);
	engine_free(w->engine);
	view_free(w->disk);
	for (size_t i = 0; i < 4096; i++)
		free(w->texts[i]);
	for (struct fate *f = w->fates, *next; f != NULL; f = next) {
		next = f->next;
		free(f);
	}
	free(w->commits);
	free(w->works);
	free(w->text_reads);
	free(w->procs);
	free(w->questions);
	free(w->asked);
	free(w);
}
