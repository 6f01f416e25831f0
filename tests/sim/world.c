/* SPDX-License-Identifier: MIT */
/* The seed, the daemon's life, and what happens next. */
#include "core/slot.h"
#include "day.h"
#include "world_int.h"

#include <math.h>
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

/* How much rarer. */
#define DAY_RARER 25

bool rarely(struct world *w, unsigned limit)
{
	return below(w, w->day != NULL ? limit * DAY_RARER : limit) == 0;
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
		FATE_ERROR, FATE_EXIT, FATE_SIGNAL, FATE_TIMEOUT, FATE_NOT_STARTED, FATE_LOST,
		FATE_LOST, FATE_LOST, FATE_LIMIT, FATE_LIMIT, FATE_THROTTLED,
		FATE_HICCUP, FATE_HOST, FATE_AUTH,
	};
	static const enum fate_verdict verdicts[] = {
		FATE_PASS, FATE_PASS, FATE_FINDINGS, FATE_FINDINGS, FATE_FINDINGS, FATE_FINDINGS,
		FATE_FINDINGS, FATE_FINDINGS,
		FATE_FINDINGS, FATE_MALFORMED,
	};
	struct fate *f;

	if (id >= w->ids_max)
		abort();
	if (w->fates[id] != NULL)
		return w->fates[id];
	f = w->fates[id] = xcalloc(1, sizeof(*f));
	f->result = (int)(below(w, 4) == 0 ? bad[below(w, sizeof(bad) / sizeof(bad[0]))] : FATE_OK);
	f->verdict = (int)verdicts[below(w, sizeof(verdicts) / sizeof(verdicts[0]))];
	if (below(w, 30) == 0)
		f->verdict = FATE_UNREADABLE;
	f->same = below(w, 2) == 0;
	f->fresh = (int)below(w, 3);
	if (!f->same && f->fresh == 0)
		f->fresh = 1;
	f->suggestion = below(w, 3) == 0;
	f->changes_tree = below(w, 6) != 0;
	f->goes_back = below(w, 5) == 0;
	f->denied = below(w, 10) == 0;
	f->disputes = below(w, 3) == 0;
	f->asks = below(w, 5) == 0;
	f->answer = (int)below(w, FATE_ANSWERS);
	f->stop = below(w, 15) == 0;
	f->says_no_change = below(w, f->changes_tree ? 20 : 2) == 0;
	f->refused = below(w, 8) == 0;
	f->conflict = below(w, 2) == 0;
	f->cost = below(w, 4) == 0 ? (double)NAN : 0.25 * below(w, 9);
	f->tokens = below(w, 4) == 0 ? ROW_NONE : (int64_t)below(w, 1000);
	f->unresolved = below(w, 4) == 0;
	f->hook_changes = below(w, 6) == 0;
	f->prepared = below(w, 3) == 0;
	f->ref_moved = below(w, 6) == 0;
	f->lingers = below(w, 10) == 0;
	f->over = below(w, 2) == 0;
	if (w->crowd && below(w, 8) != 0)
		f->result = FATE_OK;
	if (w->crowd)
		f->stop = false;
	if (w->merges && below(w, 24) != 0) {
		/* a check that has failed often does so again */
		if (below(w, w->red ? 5 : 25) == 0)
			w->red = !w->red;
		f->result = w->red ? FATE_EXIT : FATE_OK;
		f->verdict = below(w, 6) == 0 ? FATE_FINDINGS : FATE_PASS;
		f->changes_tree = true;
		f->goes_back = f->denied = f->stop = f->says_no_change = f->refused = f->hook_changes = false;
		f->ref_moved = f->unresolved = false;
		f->conflict = below(w, 8) == 0;
	}
	service_draw(w, f);
	if (w->day != NULL)
		day_fate(w, f);
	return f;
}

const struct fate *world_fate(const struct world *w, int64_t id)
{
	return id < w->ids_max ? w->fates[id] : NULL;
}

/* Clock */

static int64_t port_now(void *ctx)
{
	struct world *w = ctx;

	/* of a day each move takes a millisecond: world_move() */
	return w->day != NULL ? w->now : ++w->now;
}

static void port_uuid(void *ctx, char out[37])
{
	struct world *w = ctx;

	snprintf(out, 37, "uuid-%lld", (long long)++w->uuid);
}

/* The daemon's life */

bool starts_with(const char *text, const char *prefix)
{
	return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

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
	LOAD(ROW_PRODUCT, products, nproducts);
	LOAD(ROW_EVIDENCE, evidence, nevidence);
	LOAD(ROW_ENTRY, entries, nentries);
	LOAD(ROW_HOLD, holds, nholds);
#undef LOAD
}

const char *const world_accounts[ACCOUNTS + 1] = { "fake", "critic", NULL };

static void start_daemon(struct world *w)
{
	struct engine_options options = { .state_dir = "/state", .instance = "0123abcd",
	    .shim = "/rl-shim", .rl_git = "/rl-git", .parallel = w->parallel };
	struct ports ports = {
		.clock_ctx = w, .now = port_now, .uuid = port_uuid, .boot_id = port_boot,
		.store_ctx = w, .commit = port_commit, .task_text = port_task_text,
		.judge = port_judge, .evidence = port_evidence,
		.proc_ctx = w, .start = port_start, .end = port_end, .wind_up = port_wind_up,
		.stalled = port_stalled, .adopt = port_adopt,
		.files_ctx = w, .job = port_job, .job_later = port_job_later,
		.timer_ctx = w, .wake = port_wake,
	};
	const struct run_rows *rows = NULL;

	/* what is found at work has its slots */
	for (size_t i = 0; i < HELD_RUNS; i++)
		w->held[i] = INT64_MAX;
	w->engine = engine_new(&ports, &options, disk_committed, w);
	engine_configure_accounts(w->engine, world_accounts, w->limits);
	engine_load_counters(w->engine, w->last_run, w->last_attempt, w->last_hold);
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		if (!run_state_is_end((enum run_state)rows->run.state))
			load_run(w, rows);
	for (size_t i = 0; i < w->ntold; i++)
		if (w->told[i].row->state == ATTEMPT_S_STARTING || w->told[i].row->state == ATTEMPT_S_RUNNING)
			engine_load_row(w->engine, ROW_HOOK, row_copy(ROW_HOOK, w->told[i].row));
	for (size_t i = 0; i < w->nclaims; i++)
		engine_load_row(w->engine, ROW_CLAIM, row_copy(ROW_CLAIM, w->claims[i]));
	for (size_t i = 0; i < w->ngroups; i++)
		engine_load_row(w->engine, ROW_GROUP, row_copy(ROW_GROUP, w->groups[i]));
	for (size_t i = 0; i < w->ncooldowns; i++)
		engine_load_row(w->engine, ROW_COOLDOWN, row_copy(ROW_COOLDOWN, w->cooldowns[i]));
	for (size_t i = 0; i < w->nspends; i++)
		engine_load_row(w->engine, ROW_SPEND, row_copy(ROW_SPEND, w->spends[i]));
	w->used = w->night_used = INT64_MAX;
	engine_recover(w->engine);
}

void world_kill(struct world *w, bool reboot)
{
	unsigned landed = below(w, (unsigned)w->ncommits + 1);

	if (w->calm)
		return;
	w->crashes++;
	w->dying = true;
	for (unsigned i = 0; i < landed; i++)
		disk_commit(w, false);
	w->ncommits = w->njobs = w->nreads = 0;
	answers_lost(w);
	for (size_t i = 0; i < w->nquestions; i++)
		free(w->questions[i].boot);
	w->nquestions = 0;
	engine_stop(w->engine);
	engine_free(w->engine);
	w->dying = false;
	if (w->day != NULL)
		day_unanswered(w);
	processes_orphaned(w, reboot);
	w->boot += reboot;
	start_daemon(w);
}

/* What happens next */

bool world_move(struct world *w, const char **name)
{
	enum { COMMIT, WORK, QUESTION, READ, PROCESS, THINGS } what = (int)below(w, THINGS);
	static const char *const names[] = { "commit", "file work", "question", "read", "process" };

	*name = names[what];
	w->now += w->day != NULL;
	if (what == COMMIT && w->ncommits > 0)
		disk_commit(w, true);
	else if (what == WORK && w->njobs > 0 && files_job(w))
		return true;
	else if (what == QUESTION && w->nquestions > 0)
		processes_answer(w);
	else if (what == READ && w->nreads > 0)
		disk_read_text(w);
	else if (what == PROCESS && processes_move(w))
		return true;
	else {
		*name = "nothing";
		return w->ncommits + w->njobs + w->nquestions + w->nreads > 0;
	}
	return true;
}

/* Somebody asks for something: for what. */
static const char *ask(struct world *w)
{
	static const struct {
		const char *name;
		unsigned often;
		void (*ask)(struct world *w);
		bool makes;	/* a new run */
	} clients[] = {
		{ "submit", 14, client_submit, true }, { "cancel", 3, client_cancel, false },
		{ "retry", 3, client_retry, true }, { "hold", 14, client_hold, false },
		{ "pause", 5, client_pause, false }, { "group", 3, client_group, false },
		{ "slots", 1, client_slots, false }, { "beads", 10, beads_other, false },
		{ "cooldown", 4, client_cooldown, false }, { "dismiss", 8, client_dismiss, false },
	};
	unsigned what;
	size_t i = 0;

	/* what can be continued mostly is, and few merges are cut off otherwise */
	if (!w->crowd && w->last_run < RUNS_MAX * 2 / 3 && client_continue(w))
		return "continue";
	what = below(w, 65);

	while (what >= clients[i].often)
		what -= clients[i++].often;
	if (w->crowd && i != 0 && i != 7)
		return "nothing";
	if (w->merges && i != 0 && below(w, 4) != 0)
		return "nothing";
	if (clients[i].makes && w->last_run >= (w->crowd ? 3 : w->merges ? 5 : RUNS_MAX * 2 / 3))
		return "nothing";
	clients[i].ask(w);
	return clients[i].name;
}

const char *world_step(struct world *w)
{
	unsigned what = below(w, 1000);
	const char *name = what >= 998 ? "reboot" : "death";

	if (what < 53) {
		name = ask(w);
	} else if (what < 56) {
		w->low_disk = below(w, 3) == 0;
		name = w->low_disk ? "low disk" : "room on disk";
	} else if (what < 990) {
		world_move(w, &name);
	} else {
		world_kill(w, what >= 998);
	}
	return name;
}

uint64_t *world_random(struct world *w)
{
	return &w->random;
}

bool world_settle(struct world *w)
{
	w->settling = true;
	w->low_disk = false;
	clients_settle(w);
	for (int i = 0; i < 400000; i++) {
		bool moved;
		const char *name;

		/* most is merged only now */
		if (w->merges && w->last_run < 12 && below(w, 8) == 0)
			client_continue(w);
		moved = world_move(w, &name);
		memory_check(w);
		if (!moved && !processes_wait(w) && w->ncommits + w->njobs + w->nquestions + w->nreads == 0)
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

const struct plan *world_plan(const struct world *w, int64_t run)
{
	return w->plans[run];
}

const struct agent_plan *world_agent(const struct plan *plan, const struct attempt_row *a)
{
	const struct agent_plan *agent;

	for (size_t i = 0; a->reviewer != NULL && i < plan->nreviewers; i++)
		for (size_t n = 0; strcmp(plan->reviewers[i].name, a->reviewer) == 0 &&
		    (agent = plan_agent_at(&plan->reviewers[i], n)) != NULL; n++)
			if (strcmp(agent->name, a->agent) == 0)
				return agent;
	return plan_agent(plan, (enum role)a->role, a->agent);
}

bool world_is_placed(const struct plan *plan, const struct attempt_row *a)
{
	return !role_is_command((enum role)a->role) && world_agent(plan, a)->launcher != NULL;
}

const struct plan *world_task_plan(const struct world *w, int64_t run, const char *task)
{
	for (size_t i = 0; i < w->ntask_plans && task != NULL; i++)
		if (w->task_plans[i].run == run && strcmp(w->task_plans[i].task, task) == 0)
			return w->task_plans[i].plan;
	return w->plans[run];
}

int64_t world_crashes(const struct world *w)
{
	return w->crashes;
}

/* With room for so many runs, and attempts, steps and hooks. */
static struct world *world_alloc(uint64_t seed, int64_t runs, int64_t ids)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->random = seed;
	w->now = 1700000000000;
	w->boot = 1;
	w->runs_max = runs;
	w->ids_max = ids;
	w->plans = xcalloc((size_t)runs, sizeof(*w->plans));
	w->logs = xcalloc((size_t)runs, sizeof(*w->logs));
	w->unlogged = xcalloc((size_t)runs, sizeof(*w->unlogged));
	w->reports = xcalloc((size_t)runs, sizeof(*w->reports));
	w->merging = xcalloc((size_t)runs, sizeof(*w->merging));
	w->runs_of = xcalloc((size_t)ids, sizeof(*w->runs_of));
	w->procs = xcalloc((size_t)ids, sizeof(*w->procs));
	w->fates = xcalloc((size_t)ids, sizeof(*w->fates));
	return w;
}

/* A submit that is refused on the full disk has had an id. */
#define DAY_SUBMITS 16
/* Attempts, steps and hooks of a run of a day. */
#define DAY_IDS 300

struct world *world_new_day(uint64_t seed, int64_t runs, int64_t slots)
{
	struct world *w = world_alloc(seed, DAY_SUBMITS * runs + RUNS_MAX, runs * DAY_IDS + IDS_MAX);

	w->parallel = slots;
	for (int i = 0; i < ACCOUNTS; i++)
		w->limits[i] = (struct account_limits){ ACCOUNT_COOLDOWN_MAX_MS, NAN, ROW_NONE, ROW_NONE };
	w->day = day_new(w, runs);
	beads_init(w);
	w->disk = view_new();
	start_daemon(w);
	return w;
}

struct world *world_new(uint64_t seed, bool crowd)
{
	struct world *w = world_alloc(seed, RUNS_MAX, IDS_MAX);

	w->crowd = crowd;
	w->parallel = crowd ? 64 : 1 + (int64_t)below(w, 4);
	w->calm = below(w, 8) == 0;
	w->merges = !crowd && seed % 8 == 3;
	if (w->merges)
		w->parallel = 8;
	for (int i = 0; i < ACCOUNTS; i++) {
		w->limits[i] = (struct account_limits){ ACCOUNT_COOLDOWN_MAX_MS, NAN, ROW_NONE, ROW_NONE };
		if (!crowd && !w->merges && below(w, 3) == 0)
			w->limits[i].budget_day_usd = 1 + below(w, 65);
		if (!crowd && !w->merges && below(w, 6) == 0)
			w->limits[i].budget_day_tokens = 1000 + (int64_t)below(w, 30000);
	}
	beads_init(w);
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
	for (int64_t i = 0; i < w->runs_max; i++) {
		free(w->logs[i]);
		run_rows_free(w->reports[i]);
		if (w->plans[i] != NULL)
			plan_release(w->plans[i]);
		free(w->plans[i]);
	}
	for (int64_t i = 0; i < w->ids_max; i++) {
		free(w->fates[i]);
		free(w->procs[i]);
	}
	for (size_t i = 0; i < w->ntold; i++)
		row_free(ROW_HOOK, w->told[i].row);
	for (size_t i = 0; i < w->nsaid; i++)
		free(w->said[i]);
	for (size_t i = 0; i < w->ndismissed; i++) {
		free(w->dismissed[i]->task);
		free(w->dismissed[i]->finding);
		free(w->dismissed[i]);
	}
	for (size_t i = 0; i < w->ntexts; i++) {
		free(w->texts[i].task);
		free(w->texts[i].text);
	}
	for (size_t i = 0; i < w->njudges; i++)
		row_free(ROW_JUDGE, w->judges[i]);
	for (size_t i = 0; i < w->nplaces; i++) {
		free(w->places[i]->path);
		free(w->places[i]->branch);
		free(w->places[i]);
	}
	for (size_t i = 0; i < w->nbranches; i++)
		free(w->branches[i].ref);
	for (size_t i = 0; i < w->npicks; i++)
		free(w->picks[i].id);
	for (size_t i = 0; i < w->npaused; i++)
		free(w->paused[i]);
	for (size_t i = 0; i < w->nclaims; i++)
		row_free(ROW_CLAIM, w->claims[i]);
	for (size_t i = 0; i < w->ngroups; i++)
		row_free(ROW_GROUP, w->groups[i]);
	for (size_t i = 0; i < w->ncooldowns; i++)
		row_free(ROW_COOLDOWN, w->cooldowns[i]);
	for (size_t i = 0; i < w->nspends; i++)
		row_free(ROW_SPEND, w->spends[i]);
	for (size_t i = 0; i < w->nsalvage; i++)
		row_free(ROW_SALVAGE, w->salvage[i]);
	for (size_t i = 0; i < w->ntask_plans; i++) {
		free(w->task_plans[i].task);
		plan_release(w->task_plans[i].plan);
		free(w->task_plans[i].plan);
	}
	beads_free(w);
	day_free(w->day);
	free(w->plans);
	free(w->logs);
	free(w->unlogged);
	free(w->reports);
	free(w->merging);
	free(w->runs_of);
	free(w->procs);
	free(w->fates);
	free(w->texts);
	free(w->judges);
	free(w->places);
	free(w->branches);
	free(w->picks);
	free(w->paused);
	free(w->claims);
	free(w->groups);
	free(w->salvage);
	free(w->task_plans);
	free(w->answers);
	for (size_t i = 0; i < w->nkills; i++)
		free(w->kills[i].operation);
	free(w->kills);
	free(w->made);
	free(w->commits);
	free(w->jobs);
	free(w->reads);
	free(w->questions);
	free(w->asked);
	free(w->said);
	free(w->told);
	free(w->live);
	free(w);
}
