/* SPDX-License-Identifier: MIT */
#include "day.h"

#include <math.h>
#include <stdio.h>

#include "base/digest.h"
#include "core/profile.h"
#include "core/slot.h"
#include "engine/needs.h"
#include "proto/error.h"
#include "world_int.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

#define TICK (10 * MINUTE)		/* humans look, and old runs are compared */
#define KEPT HOUR			/* after the end of a run */
#define REPOSITORIES 40
#define WINDOW (5 * HOUR)		/* of an account's limit */
#define CHECK_EVERY 64			/* commits */

enum accident { DEATH, REBOOT, DISK_FULL, DISK_FREE, SUSPEND };

/* A submit that was not yet answered well, and when it is made again. */
struct waiting {
	int64_t number, at;
	bool asked;
};

struct day {
	int64_t begin, runs;
	int64_t *arrivals, next_arrival;
	struct {
		int64_t at;
		enum accident what;
	} accidents[16];
	size_t naccidents, next_accident;
	struct waiting *waiting;
	size_t nwaiting;
	int64_t number;			/* of the submit that is made */
	int64_t next_tick, swept;
	struct {
		int64_t window, begun;
	} used[ACCOUNTS];
	int64_t limit;			/* attempts of an account in one window */
	struct day_figures figures;
};

/* ---- what will happen ---- */

/* Six times as many at three in the afternoon as at three in the night. */
static int64_t draw_arrival(struct world *w)
{
	for (;;) {
		int64_t at = (int64_t)below(w, (unsigned)DAY);
		double hour = (double)at / (double)HOUR, share = 0.58 - 0.42 * cos((hour - 3) * 3.14159265 / 12);

		if (below(w, 1000) < (unsigned)(share * 1000))
			return at;
	}
}

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void add_accident(struct day *day, int64_t at, enum accident what)
{
	size_t i = day->naccidents++;

	for (; i > 0 && day->accidents[i - 1].at > at; i--)
		day->accidents[i] = day->accidents[i - 1];
	day->accidents[i].at = at;
	day->accidents[i].what = what;
}

static void draw_accidents(struct world *w, struct day *day)
{
	int64_t full = day->begin + (int64_t)below(w, (unsigned)DAY);

	/* some while a submit is under way */
	for (int i = 0; i < 6; i++)
		add_accident(day, day->arrivals[below(w, (unsigned)day->runs)] + (int64_t)below(w, 12), DEATH);
	add_accident(day, day->begin + (int64_t)below(w, (unsigned)DAY), REBOOT);
	add_accident(day, day->begin + (int64_t)below(w, (unsigned)DAY), SUSPEND);
	add_accident(day, full, DISK_FULL);
	add_accident(day, full + 5 * MINUTE + (int64_t)below(w, 25 * (unsigned)MINUTE), DISK_FREE);
}

struct day *day_new(struct world *w, int64_t runs)
{
	struct day *day = xcalloc(1, sizeof(*day));

	w->now -= w->now % DAY;
	day->begin = w->now;
	day->runs = runs;
	day->arrivals = xcalloc((size_t)runs, sizeof(*day->arrivals));
	for (int64_t i = 0; i < runs; i++)
		day->arrivals[i] = w->now + draw_arrival(w);
	qsort(day->arrivals, (size_t)runs, sizeof(*day->arrivals), compare_times);
	draw_accidents(w, day);
	day->next_tick = w->now + TICK;
	/* more than five hours need on the average, less than those of the afternoon */
	day->limit = 10 + runs * 2 / 5;
	day->figures.waits = xcalloc((size_t)runs * 2, sizeof(*day->figures.waits));
	return day;
}

void day_free(struct day *day)
{
	if (day == NULL)
		return;
	free(day->arrivals);
	free(day->waiting);
	free(day->figures.waits);
	free(day);
}

/* ---- what is submitted ---- */

void day_draw(struct world *w, struct plan *plan, struct submission *s)
{
	static char workdir[32], key[32];
	static const enum source_kind kinds[] = { SOURCE_STORIES, SOURCE_WORKFLOW };

	snprintf(workdir, sizeof(workdir), "/w/repository%u", below(w, REPOSITORIES));
	snprintf(key, sizeof(key), "%lld", (long long)w->day->number);
	s->workdir = workdir;
	s->key = key;
	s->after = ROW_NONE;
	s->source = below(w, 8) == 0 ? kinds[below(w, 2)] : SOURCE_PROMPT;
	if (s->source == SOURCE_PROMPT)
		plan->parallel = 1;
	else
		plan->parallel = 2 + (int64_t)below(w, 3);
	if (s->source != SOURCE_WORKFLOW)
		plan_skip(plan, below(w, 12) == 0 ? SKIP_OFF : SKIP_NOTHING);
	if (below(w, 4) != 0)
		plan_drop_panel(plan);
	plan->scope = SCOPE_TASK;
	plan->commit = below(w, 10) == 0 ? COMMIT_MODE_AGENT : COMMIT_MODE_AUTO;
	plan->commit_said = true;
	plan->integrate = INTEGRATE_AUTO;
	plan->workspace = REVIEW_IN_ROOM;
	plan->checks_in_room = true;
	plan->check_on_base = CHECK_ON_BASE_WARN;
	plan->max_fixes = 3;
	plan->stall_limit = 2;
	plan->retries = 2;
	plan->pause_ms = 0;
	plan->iterations = ROW_NONE;
	plan->assign = ASSIGN_DAEMON;
	plan->isolation = below(w, 6) == 0 ? ISOLATION_AUTO : ISOLATION_WORKTREE;
	plan->disk_floor_bytes = 1;
	plan->on_cut = ON_CUT_WARN;
	plan->on_lost = ON_LOST_RETRY;
	if (below(w, 8) != 0) {
		strings_free(plan->protect);
		plan->protect = NULL;
		plan->on_malformed = plan->on_reviewer_error = plan->on_exhausted = BAD_END_FAIL;
	}
	plan->max_cost_usd = NAN;
	plan->max_tokens = plan->max_wall_ms = ROW_NONE;
	for (size_t i = 0; i < ROLES; i++)
		if (plan->agents[i].launcher != NULL)
			plan->agents[i].launcher_slots = 0;
	for (size_t i = 0; i < plan->nreviewers; i++)
		plan->reviewers[i].launcher_slots = 0;
}

static struct waiting *waiting_of(struct day *day, int64_t number)
{
	for (size_t i = 0; i < day->nwaiting; i++)
		if (day->waiting[i].number == number)
			return &day->waiting[i];
	return NULL;
}

static void submitted(struct day *day, int64_t number)
{
	struct waiting *waiting = waiting_of(day, number);

	*waiting = day->waiting[--day->nwaiting];
}

struct submit {
	struct world *world;
	int64_t number;
};

static void day_submit_cb(void *arg, const struct engine_reply *reply)
{
	struct submit *submit = arg;
	struct world *w = submit->world;
	struct waiting *waiting = waiting_of(w->day, submit->number);

	submit_cb(w, reply);
	if (w->dying) {
		/* it is asked for once more: day_unanswered() */
	} else if (reply->code == RPC_OK) {
		submitted(w->day, submit->number);
	} else if (reply->code == RPC_NO_SPACE) {
		w->day->figures.no_space++;
		waiting->asked = false;
		waiting->at = w->now + MINUTE;
	} else {
		world_fail(w, "submit %lld was refused: %s", (long long)submit->number, reply->message);
	}
	free(submit);
}

void day_submit(struct world *w, struct submission *s)
{
	struct submit *submit = xcalloc(1, sizeof(*submit));

	*submit = (struct submit){ w, w->day->number };
	waiting_of(w->day, w->day->number)->asked = true;
	engine_submit(w->engine, s, day_submit_cb, submit);
}

void day_unanswered(struct world *w)
{
	struct day *day = w->day;

	for (size_t i = 0; i < day->nwaiting; i++)
		if (day->waiting[i].asked) {
			day->figures.unanswered++;
			day->waiting[i].asked = false;
			day->waiting[i].at = w->now + 5 * SECOND;
		}
}

/* By its key, as a client that has heard no answer. */
static bool is_known(const struct world *w, int64_t number)
{
	const struct run_rows *rows = NULL;
	char key[32];

	snprintf(key, sizeof(key), "%lld", (long long)number);
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		if (text_equal(rows->run.key, key))
			return true;
	return false;
}

static void arrive(struct world *w)
{
	struct day *day = w->day;

	for (; day->next_arrival < day->runs && day->arrivals[day->next_arrival] <= w->now; day->next_arrival++) {
		day->waiting = xreallocarray(day->waiting, day->nwaiting + 1, sizeof(*day->waiting));
		day->waiting[day->nwaiting++] = (struct waiting){ day->next_arrival + 1, w->now, false };
	}
	for (size_t i = 0; i < day->nwaiting; i++) {
		const struct waiting *waiting = &day->waiting[i];

		if (waiting->asked || waiting->at > w->now)
			continue;
		day->number = waiting->number;
		if (is_known(w, day->number))
			submitted(day, day->number);
		else
			client_submit(w);
		return;
	}
}

/* ---- what agents do ---- */

/* Of a hundred. */
static bool percent(struct world *w, unsigned share)
{
	return below(w, 100) < share;
}

/* An account serves so many attempts in each window, and no more until the next one. */
static bool is_exhausted(struct world *w, const struct attempt_row *row, bool begins)
{
	int64_t window = (w->now - w->day->begin) / WINDOW;

	for (int i = 0; i < ACCOUNTS && row->account != NULL; i++) {
		if (strcmp(row->account, world_accounts[i]) != 0)
			continue;
		if (w->day->used[i].window != window) {
			w->day->used[i].window = window;
			w->day->used[i].begun = 0;
		}
		w->day->used[i].begun += begins;
		return w->day->used[i].begun > w->day->limit;
	}
	return false;
}

static void refuse(struct world *w, struct fate *f)
{
	f->result = FATE_LIMIT;
	f->reset_in = WINDOW - (w->now - w->day->begin) % WINDOW;
	f->silent = f->reports = false;
}

/* What is at work when its account is exhausted gets no further, either. */
void day_ends(struct world *w, const struct attempt_row *row)
{
	struct fate *f = fate_of(w, row->id);

	if (f->result == FATE_OK && is_exhausted(w, row, false))
		refuse(w, f);
}

void day_fate(struct world *w, struct fate *f)
{
	static const enum fate_result bad[] = { FATE_EXIT, FATE_EXIT, FATE_ERROR, FATE_SIGNAL, FATE_TIMEOUT,
	    FATE_THROTTLED, FATE_HICCUP, FATE_HICCUP, FATE_LOST, FATE_NOT_STARTED };

	f->result = percent(w, 3) ? (int)bad[below(w, sizeof(bad) / sizeof(bad[0]))] : FATE_OK;
	f->verdict = percent(w, 60) ? FATE_PASS : percent(w, 97) ? FATE_FINDINGS : FATE_MALFORMED;
	f->reports = false;
	f->changes_tree = !percent(w, 3);
	f->goes_back = percent(w, 1);
	f->same = f->same && percent(w, 20);
	f->fresh += f->fresh == 0 && !f->same;
	f->denied = percent(w, 1);
	f->disputes = percent(w, 5);
	f->asks = percent(w, 2);
	f->stop = false;
	f->says_no_change = percent(w, f->changes_tree ? 0 : 50);
	f->refused = percent(w, 2);
	f->hook_changes = percent(w, 1);
	f->conflict = percent(w, 10);
	f->unresolved = percent(w, 5);
	f->ref_moved = false;
	f->lingers = percent(w, 2);
}

int64_t day_begins(struct world *w, const struct attempt_row *row)
{
	static const unsigned minutes[ROLES][8] = {
		[ROLE_IMPLEMENT] = { 2, 5, 8, 12, 15, 20, 30, 150 }, [ROLE_CHECK] = { 1, 1, 1, 2, 2, 3, 5, 10 },
		[ROLE_REVIEW] = { 1, 2, 2, 3, 3, 4, 5, 8 }, [ROLE_FIX] = { 1, 2, 3, 5, 6, 8, 10, 20 },
		[ROLE_COMMIT] = { 1, 1, 1, 1, 1, 1, 2, 3 }, [ROLE_SETUP] = { 1, 1, 1, 1, 2, 2, 3, 5 },
	};
	struct fate *f;

	if (row == NULL)
		return 30 + (int64_t)below(w, 1000);
	f = fate_of(w, row->id);
	if (row->role == ROLE_CHECK && percent(w, 15))
		f->result = FATE_EXIT;
	if (row->role == ROLE_REVIEW)
		f->changes_tree = !percent(w, 1);
	if (is_exhausted(w, row, true)) {
		refuse(w, f);
		f->reports = percent(w, 50) && f->reset_in > 10 * MINUTE;
	}
	if (service_says(f) != 0)
		return 5 * SECOND;
	return (int64_t)minutes[row->role][below(w, 8)] * MINUTE + (int64_t)below(w, (unsigned)MINUTE);
}

/* ---- what happens to the machine ---- */

static void suspend(struct world *w)
{
	int64_t asleep = HOUR + (int64_t)below(w, 2 * (unsigned)HOUR);

	w->now += asleep;
	for (size_t i = 0; i < w->nlive; i++)
		if (w->live[i]->state == PROC_RUNNING)
			w->live[i]->due += asleep;
}

static void happen(struct world *w, enum accident what)
{
	switch (what) {
	case DEATH:
	case REBOOT:
		world_kill(w, what == REBOOT);
		break;
	case DISK_FULL:
	case DISK_FREE:
		w->low_disk = what == DISK_FULL;
		break;
	case SUSPEND:
		suspend(w);
		break;
	}
}

/* ---- humans ---- */

static int64_t open_holds(const struct world *w)
{
	const struct run_rows *rows = NULL;
	int64_t count = 0;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		for (size_t i = 0; i < rows->nholds; i++)
			count += rows->holds[i]->state == HOLD_S_OPEN;
	return count;
}

/* Most holds are decided in the daytime, within two hours. */
static void look(struct world *w)
{
	int64_t hour = (w->now - w->day->begin) % DAY / HOUR;
	bool late = w->now > w->day->begin + DAY, awake = hour >= 8 && hour < 20;

	for (int64_t n = open_holds(w); n > 0; n--)
		if (below(w, awake || late ? 8 : 80) == 0)
			client_hold(w);
	if (late)
		return;
	if (below(w, 10000) < (unsigned)w->day->runs)
		client_cancel(w);
	if (below(w, 5000) < (unsigned)w->day->runs)
		client_retry(w);
	if (below(w, 10000) < (unsigned)w->day->runs)
		client_dismiss(w);
	if (below(w, 144) == 0)
		client_cooldown(w);
}

/* ---- what has become of it ---- */

static bool is_needed(const struct world *w, int64_t run)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		if (rows->run.retry_of == run || rows->run.after_run == run)
			return true;
	return false;
}

static void count_attempts(struct world *w, const struct run_rows *rows)
{
	struct day_figures *f = &w->day->figures;

	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];
		const struct fate *fate = world_fate(w, a->id);

		f->attempts++;
		f->agents += !role_is_command((enum role)a->role);
		f->lost += a->state == ATTEMPT_S_LOST;
		f->refused += fate != NULL && fate->result == FATE_LIMIT;
		if (a->started_at != ROW_NONE && a->ended_at != ROW_NONE)
			f->busy_ms += (double)(a->ended_at - a->started_at);
	}
}

static void add_to_digest(struct day_figures *f, const struct run_rows *rows)
{
	char *line = xasprintf("%s %lld %s %s %lld %zu %zu %s", f->digest, (long long)rows->run.id,
	    state_name(&run_state_names, rows->run.state), rows->run.cause != NULL ? rows->run.cause : "-",
	    (long long)rows->run.ended_at, rows->nattempts, rows->nholds,
	    rows->run.review_head != NULL ? rows->run.review_head : "-");

	digest_hex(line, strlen(line), f->digest);
	free(line);
}

static void count(struct world *w, const struct run_rows *rows)
{
	struct day_figures *f = &w->day->figures;
	const struct run_row *run = &rows->run;

	f->runs += run->key != NULL;
	f->retries += run->key == NULL;
	f->passed += run->state == RUN_S_SUCCEEDED;
	f->failed += run->state == RUN_S_FAILED;
	f->cancelled += run->state == RUN_S_CANCELLED;
	f->held += rows->nholds > 0;
	if (run->started_at != ROW_NONE && f->nwaits < w->day->runs * 2)
		f->waits[f->nwaits++] = run->started_at - run->created_at;
	if (run->ended_at - w->day->begin > f->ended_ms)
		f->ended_ms = run->ended_at - w->day->begin;
	count_attempts(w, rows);
	add_to_digest(f, rows);
}

static void retire(struct world *w, int64_t run)
{
	const struct run_rows *rows = view_run(w->disk, run);

	compare_ended(w, rows);
	hooks_retire(w, rows);
	money_retire(w, rows);
	if (world_error(w) != NULL)
		return;
	count(w, rows);
	for (size_t i = 0; i < rows->nattempts; i++) {
		int64_t id = rows->attempts[i]->id;

		free(w->fates[id]);
		w->fates[id] = NULL;
	}
	clients_retire(w, run);
	git_retire(w, run);
	answers_retire(w, run);
	disk_retire(w, run);
}

static void retire_all(struct world *w, int64_t until)
{
	const struct run_rows *rows = NULL;
	int64_t id = 0;

	if (w->ncommits + w->nquestions + w->nreads > 0)
		return;
	while (world_error(w) == NULL && (rows = view_next(w->disk, id)) != NULL) {
		id = rows->run.id;
		if (run_state_is_end((enum run_state)rows->run.state) && rows->run.ended_at <= until &&
		    !engine_needs_run(w->engine, id) && !is_needed(w, id))
			retire(w, id);
	}
	processes_retire(w, &w->day->swept);
}

void day_committed(struct world *w, const struct decision *d)
{
	w->day->figures.commits++;
	for (size_t i = 0; i < d->count; i++)
		w->day->figures.events += d->changes[i].kind == ROW_EVENT;
}

static void look_at_slots(struct world *w)
{
	struct day_figures *f = &w->day->figures;
	int64_t running = 0, queued = (int64_t)view_in_state(w->disk, RUN_S_QUEUED);

	for (size_t i = 0; i < w->nlive; i++)
		running += w->live[i]->kind == PROC_ATTEMPT && w->live[i]->state == PROC_RUNNING;
	f->most_slots = running > f->most_slots ? running : f->most_slots;
	f->most_queued = queued > f->most_queued ? queued : f->most_queued;
}

/* ---- the clock ---- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* When something happens that is under way; now: at once. */
static int64_t next_move(struct world *w)
{
	int64_t at = INT64_MAX;

	if (w->ncommits + w->nquestions + w->nreads > 0)
		return w->now;
	for (size_t i = 0; i < w->njobs && at > w->now; i++)
		at = least(at, w->jobs[i].at);
	return at <= w->now ? w->now : least(at, processes_due(w));
}

static int64_t next_event(const struct world *w)
{
	const struct day *day = w->day;
	int64_t at = day->next_tick;

	if (day->next_arrival < day->runs)
		at = least(at, day->arrivals[day->next_arrival]);
	if (day->next_accident < day->naccidents)
		at = least(at, day->accidents[day->next_accident].at);
	for (size_t i = 0; i < day->nwaiting; i++)
		if (!day->waiting[i].asked)
			at = least(at, day->waiting[i].at);
	return at;
}

static bool is_over(const struct world *w)
{
	const struct run_rows *rows = NULL;

	if (w->day->next_arrival < w->day->runs || w->day->nwaiting > 0 || processes_wait(w))
		return false;
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		if (!run_state_is_end((enum run_state)rows->run.state))
			return false;
	return true;
}

static void day_event(struct world *w)
{
	struct day *day = w->day;

	if (day->next_accident < day->naccidents && day->accidents[day->next_accident].at <= w->now) {
		happen(w, day->accidents[day->next_accident++].what);
	} else if (day->next_tick <= w->now) {
		day->next_tick = w->now + TICK;
		look(w);
		look_at_slots(w);
		retire_all(w, w->now - KEPT);
	} else {
		arrive(w);
	}
}

const struct day_figures *day_play(struct world *w)
{
	struct day *day = w->day;
	struct day_figures *f = &day->figures;
	int64_t checked = 0;
	const char *name;

	while (world_error(w) == NULL) {
		int64_t move = next_move(w), event = next_event(w);

		/* nothing is under way that would excuse anything */
		if (move > w->now && f->commits >= checked + CHECK_EVERY) {
			checked = f->commits;
			world_check(w);
		}

		if (move == INT64_MAX && is_over(w))
			break;
		if (w->now > day->begin + 30 * DAY)
			world_fail(w, "it never comes to rest");
		if (least(move, event) > w->now)
			w->now = least(move, event);
		if (event <= w->now)
			day_event(w);
		else
			world_move(w, &name);
	}
	if (world_error(w) == NULL)
		memory_check(w);
	retire_all(w, INT64_MAX);
	if (world_error(w) == NULL)
		world_check_end(w);
	f->deaths = w->crashes;
	if (f->runs != day->runs)
		world_fail(w, "%lld runs were submitted, and %lld are on disk", (long long)day->runs,
		    (long long)f->runs);
	qsort(f->waits, (size_t)f->nwaits, sizeof(*f->waits), compare_times);
	return f;
}
