/* SPDX-License-Identifier: MIT */
/* The seed, the daemon's life, and what happens next. */
#include "world_int.h"

#include <stdarg.h>
#include <stdio.h>

/* splitmix64 */
uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned below(struct world *w, unsigned limit)
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

struct fate *fate_of(struct world *w, int64_t id)
{
	static const enum fate_result bad[] = {
		FATE_ERROR, FATE_EXIT, FATE_SIGNAL, FATE_TIMEOUT, FATE_NOT_STARTED, FATE_LOST, FATE_LOST, FATE_LOST,
	};
	static const enum fate_verdict verdicts[] = {
		FATE_PASS, FATE_PASS, FATE_FINDINGS, FATE_FINDINGS, FATE_FINDINGS, FATE_FINDINGS, FATE_FINDINGS, FATE_FINDINGS,
		FATE_FINDINGS, FATE_MALFORMED,
	};
	struct fate *f;

	if (id >= IDS_MAX)
		abort();
	if (w->fates[id] != NULL)
		return w->fates[id];
	f = w->fates[id] = xcalloc(1, sizeof(*f));
	f->result = (int)(below(w, 5) == 0 ? bad[below(w, sizeof(bad) / sizeof(bad[0]))] : FATE_OK);
	f->verdict = (int)verdicts[below(w, sizeof(verdicts) / sizeof(verdicts[0]))];
	if (below(w, 30) == 0)
		f->verdict = FATE_UNREADABLE;
	f->same = below(w, 2) == 0;
	f->news = (int)below(w, 3);
	if (!f->same && f->news == 0)
		f->news = 1;
	f->suggestion = below(w, 3) == 0;
	f->changes_tree = below(w, 6) != 0;
	f->denied = below(w, 10) == 0;
	f->answer = (int)below(w, FATE_ANSWERS);
	return f;
}

const struct fate *world_fate(const struct world *w, int64_t id)
{
	return id < IDS_MAX ? w->fates[id] : NULL;
}

/* Clock */

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

/* The daemon's life */

static void load_run(struct world *w, const struct run_rows *rows)
{
	engine_load_row(w->engine, ROW_RUN, row_copy(ROW_RUN, &rows->run));
#define LOAD(kind, list, count)					\
	for (size_t i = 0; i < rows->count; i++)		\
		engine_load_row(w->engine, kind, row_copy(kind, rows->list[i]))
	LOAD(ROW_TASK, tasks, ntasks);
	LOAD(ROW_ITERATION, iterations, niterations);
	LOAD(ROW_SLOT, slots, nslots);
	LOAD(ROW_ATTEMPT, attempts, nattempts);
	LOAD(ROW_STEP, steps, nsteps);
	LOAD(ROW_REVIEW, reviews, nreviews);
	LOAD(ROW_FINDING, findings, nfindings);
	LOAD(ROW_HOLD, holds, nholds);
#undef LOAD
}

static void start_daemon(struct world *w)
{
	struct engine_options options = { .state_dir = "/state", .parallel = w->parallel };
	struct ports ports = {
		.clock_ctx = w, .now = port_now, .uuid = port_uuid, .boot_id = port_boot,
		.store_ctx = w, .commit = port_commit, .task_text = port_task_text,
		.proc_ctx = w, .start = port_start, .end = port_end, .adopt = port_adopt,
		.files_ctx = w, .work = port_work, .work_later = port_work_later,
	};
	const struct run_rows *rows = NULL;

	w->engine = engine_new(&ports, &options, disk_committed, w);
	engine_load_counters(w->engine, w->last_run, w->last_attempt, w->last_hold);
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		if (!run_state_is_end((enum run_state)rows->run.state))
			load_run(w, rows);
	for (size_t i = 0; i < w->ntold; i++)
		if (w->told[i].row->state == ATTEMPT_S_STARTING || w->told[i].row->state == ATTEMPT_S_RUNNING)
			engine_load_row(w->engine, ROW_HOOK, row_copy(ROW_HOOK, w->told[i].row));
	engine_recover(w->engine);
}

/* kill -9: commits that wait may have landed unreported; file work and questions are forgotten; processes go on. */
static void kill_daemon(struct world *w, bool reboot)
{
	unsigned landed = below(w, (unsigned)w->ncommits + 1);

	if (w->calm)
		return;
	w->crashes++;
	w->dying = true;
	for (unsigned i = 0; i < landed; i++)
		disk_commit(w, false);
	w->ncommits = w->nworks = w->nreads = 0;
	for (size_t i = 0; i < w->nquestions; i++)
		free(w->questions[i].boot);
	w->nquestions = 0;
	engine_stop(w->engine);
	engine_free(w->engine);
	w->dying = false;
	processes_orphaned(w, reboot);
	w->boot += reboot;
	start_daemon(w);
}

/* What happens next */

/* Something that was already under way moves on. false: nothing is. */
static bool move(struct world *w)
{
	enum { COMMIT, WORK, QUESTION, READ, PROCESS, THINGS } what = (int)below(w, THINGS);

	if (what == COMMIT && w->ncommits > 0)
		disk_commit(w, true);
	else if (what == WORK && w->nworks > 0)
		files_work(w);
	else if (what == QUESTION && w->nquestions > 0)
		processes_answer(w);
	else if (what == READ && w->nreads > 0)
		disk_read_text(w);
	else if (what == PROCESS && processes_move(w))
		return true;
	else
		return w->ncommits + w->nworks + w->nquestions + w->nreads > 0;
	return true;
}

void world_step(struct world *w)
{
	unsigned what = below(w, 1000);
	bool room = w->last_run < RUNS_MAX * 2 / 3;

	if (what < 14 && room)
		client_submit(w);
	else if (what < 17)
		client_cancel(w);
	else if (what < 20 && room)
		client_retry(w);
	else if (what < 34 && w->last_hold > 0)
		client_hold(w);
	else if (what < 990)
		move(w);
	else
		kill_daemon(w, what >= 998);
}

bool world_settle(struct world *w)
{
	for (int i = 0; i < 200000; i++) {
		bool moved = move(w);

		if (!moved && !processes_wait(w) && w->ncommits + w->nworks + w->nquestions + w->nreads == 0)
			return true;
		if (world_error(w) != NULL)
			return true;
	}
	return false;
}

/* What is accepted already has only to be committed, without an agent: that needs no slot of the daemon. */
static bool needs_slot(const struct run_rows *rows)
{
	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->cause != NULL && (rows->slots[i]->stage == SLOT_S_MEASURING || rows->slots[i]->stage == SLOT_S_COMMITTING ||
		    rows->slots[i]->stage == SLOT_S_ENDING))
			return false;
	return true;
}

/* From its start to its end, be it held or sent back. */
static bool has_workspace(const struct run_rows *rows)
{
	return !run_state_is_end((enum run_state)rows->run.state) && rows->run.started_at != ROW_NONE;
}

void world_check(struct world *w)
{
	const struct run_rows *rows = NULL, *other;
	int64_t running = 0;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		running += rows->run.state == RUN_S_RUNNING && needs_slot(rows);
		other = has_workspace(rows) ? rows : NULL;
		while (other != NULL && (other = view_next(w->disk, other->run.id)) != NULL)
			if (has_workspace(other) && strcmp(other->run.workspace, rows->run.workspace) == 0)
				world_fail(w, "runs %lld and %lld share a workspace", (long long)rows->run.id, (long long)other->run.id);
	}
	if (running > w->parallel)
		world_fail(w, "%lld runs work in %lld slots", (long long)running, (long long)w->parallel);
	processes_check(w);
}

void world_check_end(struct world *w)
{
	hooks_check_end(w);
	files_check_end(w);
	clients_check_end(w);
}

const struct view *world_disk(const struct world *w)
{
	return w->disk;
}

const struct plan *world_plan(const struct world *w, int64_t run)
{
	return w->plans[run];
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
	w->parallel = 1 + (int64_t)below(w, 3);
	w->calm = below(w, 8) == 0;
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
	for (size_t i = 0; i < RUNS_MAX; i++) {
		free(w->texts[i]);
		free(w->logs[i]);
		run_rows_free(w->reports[i]);
		if (w->plans[i] != NULL)
			plan_release(w->plans[i]);
		free(w->plans[i]);
	}
	for (size_t i = 0; i < IDS_MAX; i++) {
		free(w->fates[i]);
		free(w->procs[i]);
	}
	for (size_t i = 0; i < w->ntold; i++)
		row_free(ROW_HOOK, w->told[i].row);
	for (size_t i = 0; i < w->nsaid; i++)
		free(w->said[i]);
	free(w->commits);
	free(w->works);
	free(w->reads);
	free(w->questions);
	free(w->asked);
	free(w->said);
	free(w->told);
	free(w->live);
	free(w);
}
