/* SPDX-License-Identifier: MIT */
/* Random histories of the engine in a simulated world, with deaths at any moment, compared with the
 * reference model.
 *
 *   sim [--seeds N] [--first SEED] [--steps N]     every table row must have been taken at the end
 *   --plants                                       then bend each row in turn, in histories that
 *                                                  take it, lose one put of each kind of row,
 *                                                  and forget the end of each kind of activity:
 *                                                  it must be noticed
 *   --debug                                        the engine's own log on stderr
 *   --show                                         what was on disk when a history has diverged
 *   --crowd                                        64 slots and more than one run on 40 beads
 *   --day [--runs N] [--slots N]                   a day of one daemon on virtual time: day.h
 *   sim --trace SEED [--only LIST]                 print the steps of one history, or play only
 *                                                  some of them, and a digest: the same every time
 *
 * A seed that diverges is shrunk: to the fewest steps that still do, with what replays them. */
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/log.h"
#include "compare.h"
#include "core/next_stage.h"
#include "core/review.h"
#include "core/run.h"
#include "core/slot.h"
#include "day.h"
#include "model/activity.h"
#include "proto/memory.h"
#include "script.h"
#include "show.h"
#include "world.h"

/* Rows taken, each from each of its stages or states, and the one that is bent. The linker sends
 * the engine's calls through here (-Wl,--wrap). */

/* Which histories took a row: those in which its bend is looked for. */
#define SEEDS_KEPT 160

struct taken {
	uint64_t seeds[SEEDS_KEPT];
	int count;
};

static struct taken slot_taken[SLOT_STAGES][SLOT_STAGES], run_taken[32][RUN_STATES],
    review_taken[ROUND_ENDS], check_taken[ROUND_ENDS],
    put_taken[ROW_KINDS], activity_taken[ACTIVITIES];
static uint64_t seed_now;
static struct bend {
	enum { BEND_NOTHING, BEND_MASK, BEND_MOVE, BEND_DECISION, BEND_RUN, BEND_REVIEW, BEND_CHECK,
	    BEND_PUT, BEND_ACTIVITY } what;
	int row;			/* of the table; kind of row of which one put is lost; kind
					 * of activity of which the end is forgotten */
	int from;			/* stage or state */
} bent;
/* The put of its kind that is lost: another one in each history. */
static int puts_of_kind, lost_put;
static struct world *playing;
static bool crowd, show;

bool __real_slot_row_move(struct slot_row *row, enum slot_stage from, enum slot_stage to);
bool __wrap_slot_row_move(struct slot_row *row, enum slot_stage from, enum slot_stage to);
const struct run_edge *__real_run_step(enum run_state state, enum run_event event);
const struct run_edge *__wrap_run_step(enum run_state state, enum run_event event);
enum round_end __real_review_classify(const struct review_facts *facts);
enum round_end __wrap_review_classify(const struct review_facts *facts);
enum round_end __real_check_classify(int64_t fix, int64_t fixes);
enum round_end __wrap_check_classify(int64_t fix, int64_t fixes);
void __real_activity_end(struct activity *activity);
void __wrap_activity_end(struct activity *activity);
void __real_decision_put(struct decision *d, enum row_kind kind, const void *row);
void __wrap_decision_put(struct decision *d, enum row_kind kind, const void *row);
void __wrap_log_bug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static bool is_bent(int what, int row, int from)
{
	return (int)bent.what == what && bent.row == row && bent.from == from;
}

/* The functions that decide about the next stage: name, a stage in which they do,
 * parameters, arguments. */
#define DECISIONS(X) \
	X(stage_before_work, SLOT_S_WAITING, (enum slot_stage next, bool checks_base, bool in_room), \
	    (next, checks_base, in_room)) \
	X(first_stage, SLOT_S_WAITING, (const struct plan *plan, bool claims), (plan, claims)) \
	X(first_review_stage, SLOT_S_WAITING, (const struct plan *plan, bool has_git), (plan, has_git)) \
	X(stage_after_claim, SLOT_S_CLAIMING, (const struct plan *plan), (plan)) \
	X(stage_after_worktree, SLOT_S_CREATING_WORKTREE, (const struct plan *plan, bool whole), (plan, whole)) \
	X(stage_after_attempt, slot_role_stage(facts->role), \
	    (const struct attempt_facts *facts, enum move_reason *reason), (facts, reason)) \
	X(stage_after_measure, facts->checked ? SLOT_S_CHECKING : SLOT_S_MEASURING, \
	    (const struct plan *plan, const struct measure_facts *facts), (plan, facts)) \
	X(stage_after_checkout, SLOT_S_CHECKOUT, (const struct plan *plan, int64_t checked, bool merged), \
	    (plan, checked, merged)) \
	X(stage_after_preparing, SLOT_S_PREPARING, \
	    (const struct plan *plan, const struct prepare_facts *facts), (plan, facts)) \
	X(stage_after_round, SLOT_S_VERIFYING, \
	    (const struct plan *plan, enum round_end end, bool touched, bool has_git, bool merged), \
	    (plan, end, touched, has_git, merged)) \
	X(stage_after_approval, SLOT_S_HELD, \
	    (const struct plan *plan, enum hold_kind kind, bool has_git), (plan, kind, has_git)) \
	X(stage_after_acceptance, SLOT_S_HELD, (const struct plan *plan, bool has_git), (plan, has_git)) \
	X(stage_after_commit, SLOT_S_COMMITTING, \
	    (const struct plan *plan, bool passed, bool whole), (plan, passed, whole)) \
	X(stage_after_merge, SLOT_S_MERGING, (const struct plan *plan, bool passed), (plan, passed)) \
	X(stage_after_held_back, SLOT_S_MERGING, (const struct plan *plan, int64_t checked), (plan, checked)) \
	X(stage_after_rework, SLOT_S_HELD, \
	    (enum hold_kind kind, enum role role, bool checkout, bool panel, enum slot_stage review), \
	    (kind, role, checkout, panel, review)) \
	X(stage_after_cancel, stage, (enum slot_stage stage), (stage))
#define NUMBER(name, from, params, args) DECISION_##name,
#define NAME(name, from, params, args) #name,
#define DECLARE(name, from, params, args) \
	enum slot_stage __real_##name params; \
	enum slot_stage __wrap_##name params;
#define DEFINE(name, from, params, args) \
	enum slot_stage __wrap_##name params { return decided(DECISION_##name, from, __real_##name args); }

enum stage_decision { DECISIONS(NUMBER) DECISION_COUNT };
static const char *const decision_names[] = { DECISIONS(NAME) };
DECISIONS(DECLARE)
static struct taken decision_taken[DECISION_COUNT][SLOT_STAGES];

static void take(struct taken *taken)
{
	if (taken->count < SEEDS_KEPT && (taken->count == 0 || taken->seeds[taken->count - 1] != seed_now))
		taken->seeds[taken->count++] = seed_now;
}

/* Another stage that may follow from, as far from to as can be; to: there is none. */
static enum slot_stage other_stage(enum slot_stage from, enum slot_stage to)
{
	static const enum slot_stage order[] = {
		SLOT_S_FIXING, SLOT_S_PASSED, SLOT_S_FAILED, SLOT_S_HELD, SLOT_S_MEASURING,
		SLOT_S_IMPLEMENTING, SLOT_S_CANCELLED,
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (order[i] != to && (slot_followers[from] & 1u << order[i]) != 0)
			return order[i];
	return to;
}

bool __wrap_slot_row_move(struct slot_row *row, enum slot_stage from, enum slot_stage to)
{
	if (row->stage == (int)from)
		take(&slot_taken[from][to]);
	if (is_bent(BEND_MASK, (int)to, (int)from))
		return false;
	return __real_slot_row_move(row, from, is_bent(BEND_MOVE, (int)to, (int)from) ? other_stage(from, to) : to);
}

static enum slot_stage decided(enum stage_decision decision, enum slot_stage from, enum slot_stage to)
{
	take(&decision_taken[decision][to]);
	return is_bent(BEND_DECISION, (int)to, (int)decision) ? other_stage(from, to) : to;
}

DECISIONS(DEFINE)

const struct run_edge *__wrap_run_step(enum run_state state, enum run_event event)
{
	static struct run_edge other;
	const struct run_edge *edge = __real_run_step(state, event);

	if (edge == NULL)
		return NULL;
	take(&run_taken[edge - run_edges][state]);
	if (!is_bent(BEND_RUN, (int)(edge - run_edges), (int)state))
		return edge;
	other = *edge;
	if (edge->next == RUN_S_RUNNING && state != RUN_S_HELD)
		other.next = RUN_S_HELD;
	else
		other.next = edge->next == RUN_S_SUCCEEDED ? RUN_S_FAILED : RUN_S_SUCCEEDED;
	return &other;
}

enum round_end __wrap_review_classify(const struct review_facts *facts)
{
	enum round_end end = __real_review_classify(facts);

	take(&review_taken[end]);
	if (!is_bent(BEND_REVIEW, (int)end, -1))
		return end;
	return end == ROUND_PASS ? ROUND_FINDINGS : ROUND_PASS;
}

enum round_end __wrap_check_classify(int64_t fix, int64_t fixes)
{
	enum round_end end = __real_check_classify(fix, fixes);

	take(&check_taken[end]);
	if (!is_bent(BEND_CHECK, (int)end, -1))
		return end;
	return end == ROUND_FINDINGS ? ROUND_EXHAUSTED : ROUND_FINDINGS;
}

/* One edit of a history that is not recorded. */
void __wrap_decision_put(struct decision *d, enum row_kind kind, const void *row)
{
	take(&put_taken[kind]);
	if (is_bent(BEND_PUT, (int)kind, -1) && ++puts_of_kind == lost_put)
		return;
	__real_decision_put(d, kind, row);
}

void __wrap_activity_end(struct activity *activity)
{
	take(&activity_taken[activity->kind]);
	if (!is_bent(BEND_ACTIVITY, (int)activity->kind, -1))
		__real_activity_end(activity);
}

/* A promise that the engine broke by its own account. */
void __wrap_log_bug(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (playing == NULL)
		abort();
	world_fail(playing, "bug: %s", text);
}

struct totals {
	long runs, attempts, crashes, holds;
};

static void add_up(struct world *w, struct totals *totals, struct buf *history)
{
	const struct run_rows *rows = NULL;

	totals->crashes += world_crashes(w);
	while ((rows = view_next(world_disk(w), rows != NULL ? rows->run.id : 0)) != NULL) {
		totals->runs++;
		totals->attempts += (long)rows->nattempts;
		totals->holds += (long)rows->nholds;
		buf_addf(history, "%lld %s %s %zu %zu %s\n", (long long)rows->run.id,
		    state_name(&run_state_names, rows->run.state),
		    rows->run.cause ? rows->run.cause : "-", rows->nattempts, rows->nholds,
		    rows->run.review_head ? rows->run.review_head : "-");
	}
}

/* NULL: all is well; else what diverged, static. script NULL: all steps. trace: print them. */
static const char *play_script(uint64_t seed, int steps, struct script *script, struct totals *totals, bool trace)
{
	static char error[640];
	struct world *w = playing = world_new(seed, crowd);
	struct buf history = { 0 };

	seed_now = seed;
	puts_of_kind = 0;
	for (int i = 0; i < steps && world_error(w) == NULL; i++) {
		const char *name;

		if (script != NULL && !script_at(script, i, world_random(w)))
			continue;
		name = world_step(w);
		if (trace)
			printf("%d %s\n", i + 1, name);
		world_check(w);
	}
	if (world_error(w) == NULL && script != NULL)
		script_at(script, steps, world_random(w));
	if (world_error(w) == NULL && !world_settle(w))
		world_fail(w, "it never comes to rest");
	if (world_error(w) == NULL)
		compare_runs(w);
	if (world_error(w) == NULL)
		world_check_end(w);
	add_up(w, totals, &history);
	if (trace) {
		char hex[DIGEST_HEX];

		digest_hex(history.data != NULL ? history.data : "", history.size, hex);
		printf("%s\n", hex);
	}
	buf_release(&history);
	if (world_error(w) == NULL) {
		world_free(w);
		return NULL;
	}
	/* a diverged world is not taken apart */
	if (show)
		show_runs(w);
	snprintf(error, sizeof(error), "seed %llu: %s", (unsigned long long)seed, world_error(w));
	return error;
}

static const char *play(uint64_t seed, int steps, struct totals *totals, bool trace)
{
	return play_script(seed, steps, NULL, totals, trace);
}

/* A history, and what it was said to diverge by; NULL: by anything. */
struct divergence {
	uint64_t seed;
	const char *said;
};

/* The same but for numbers. */
static bool is_same_divergence(const char *a, const char *b)
{
	for (;;) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b || *a == '\0')
			return *a == *b;
		a++;
		b++;
	}
}

/* In a child, which may abort, or loop. */
static bool diverges(struct script *script, void *arg)
{
	const struct divergence *d = arg;
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct rlimit cpu = { 20, 20 }, core = { 0, 0 };
		struct totals totals = { 0 };
		const char *said;

		setrlimit(RLIMIT_CPU, &cpu);
		setrlimit(RLIMIT_CORE, &core);
		if (freopen("/dev/null", "w", stderr) == NULL || freopen("/dev/null", "w", stdout) == NULL)
			_exit(0);
		said = play_script(d->seed, script->steps, script, &totals, false);
		_exit(said != NULL && (d->said == NULL || is_same_divergence(said, d->said)));
	}
	return pid != -1 && waitpid(pid, &status, 0) == pid && (!WIFEXITED(status) || WEXITSTATUS(status) == 1);
}

/* The fewest steps of a history that still diverge, and how to play them. */
static void shrink(uint64_t seed, int steps, const char *said)
{
	struct script *script = script_new(steps);
	struct totals totals = { 0 };
	struct divergence d = { seed, xstrdup(said) };
	const char *diverged;
	char *list;

	if (!diverges(script, &d))
		return;
	script->recorded = true;
	script_shrink(script, diverges, &d);
	list = script_list(script);
	show = true;
	diverged = play_script(seed, steps, script, &totals, true);
	printf("shrunk: %s\nreplay: sim --trace %llu --steps %d%s --only %s\n",
	    diverged != NULL ? diverged : "it does not diverge a second time", (unsigned long long)seed, steps,
	    crowd ? " --crowd" : "", list);
	free(list);
}

/* --trace: print the steps of one history, or only of some of them. */
static int trace_one(uint64_t seed, int steps, const char *only)
{
	struct script *script = script_new(steps);
	struct totals totals = { 0 };
	struct divergence d = { seed, NULL };
	const char *diverged;

	if (only != NULL) {
		diverges(script, &d);
		script->recorded = true;
		if (!script_keep_only(script, only)) {
			fprintf(stderr, "sim: --only %s: no list of steps\n", only);
			return 2;
		}
	}
	diverged = play_script(seed, steps, script, &totals, true);
	if (diverged != NULL)
		printf("diverged: %s\n", diverged);
	return diverged != NULL;
}

/* Each row that can be bent, as each of its stages or states reaches it. */
typedef int visit(struct bend bend, const struct taken *taken, const char *what, const char *name, const char *from);

/* Work that changed nothing, is passed for that, and is committed all the same: too rare in a few
 * hundred histories to be asked for. unit:review has these moves. */
static bool is_rare(int from, int to)
{
	return from == SLOT_S_CHECKING && (to == SLOT_S_COMMITTING || to == SLOT_S_COMMIT_AGENT);
}

/* The moves of a task that a retry continues: few of these histories continue one, see continued.h,
 * and test_continue.py has the others. */
static bool is_continued(int from, int to)
{
	switch (from) {
	case SLOT_S_WAITING:
		return to == SLOT_S_IMPLEMENTED;
	case SLOT_S_CLAIMING:
		return to == SLOT_S_MEASURING || to == SLOT_S_IMPLEMENTED;
	case SLOT_S_MEASURING:
		return to == SLOT_S_PINNING || to == SLOT_S_MERGING || to == SLOT_S_IMPLEMENTING;
	default:
		return false;
	}
}

/* A merge that gives a tree of which all is known: each merge of these histories gives another one.
 * test_integrate.py has them. */
static bool is_of_known_merge(int from, int to)
{
	return to == SLOT_S_MERGING && (from == SLOT_S_MERGING || from == SLOT_S_CHECKOUT);
}

static bool is_asked_for(int from, int to)
{
	return (slot_followers[from] & 1u << to) != 0 && !is_rare(from, to) && !is_continued(from, to) &&
	    !is_of_known_merge(from, to);
}

static int each_row(visit *see)
{
	static const char *const ends[ROUND_ENDS] = {
		[ROUND_PASS] = "pass", [ROUND_FINDINGS] = "findings",
		[ROUND_EXHAUSTED] = "exhausted", [ROUND_STALLED] = "stalled",
		[ROUND_VIOLATION] = "violation",
	};
	int count = 0;

	for (int from = 0; from < SLOT_STAGES; from++)
		for (int to = 0; to < SLOT_STAGES; to++)
			if (is_asked_for(from, to))
				count += see((struct bend){ BEND_MASK, to, from }, &slot_taken[from][to], "mask bit",
				    state_name(&slot_stage_names, to), state_name(&slot_stage_names, from));
	for (int from = 0; from < SLOT_STAGES; from++)
		for (int to = 0; to < SLOT_STAGES; to++)
			if (is_asked_for(from, to) &&
			    other_stage((enum slot_stage)from, (enum slot_stage)to) != (enum slot_stage)to)
				count += see((struct bend){ BEND_MOVE, to, from }, &slot_taken[from][to], "move to",
				    state_name(&slot_stage_names, to), state_name(&slot_stage_names, from));
	/* a result that no history brings is another's: the moves above are all taken */
	for (int i = 0; i < DECISION_COUNT; i++)
		for (int to = 0; to < SLOT_STAGES; to++)
			if (decision_taken[i][to].count > 0)
				count += see((struct bend){ BEND_DECISION, to, i },
				    &decision_taken[i][to], decision_names[i],
				    state_name(&slot_stage_names, to), "any facts");
	for (size_t i = 0; i < run_edges_count; i++)
		for (int from = 0; from < RUN_STATES; from++)
			if ((run_edges[i].when & 1u << from) != 0)
				count += see((struct bend){ BEND_RUN, (int)i, from }, &run_taken[i][from], "run row",
				    run_event_name(run_edges[i].event), state_name(&run_state_names, from));
	for (int end = ROUND_PASS; end <= ROUND_VIOLATION; end++)
		count += see((struct bend){ BEND_REVIEW, end, -1 }, &review_taken[end],
		    "review row", ends[end], "a review");
	for (int end = ROUND_FINDINGS; end <= ROUND_EXHAUSTED; end++)
		count += see((struct bend){ BEND_CHECK, end, -1 }, &check_taken[end], "check row",
		    ends[end], "a check");
	/* what was salvaged is told once, and is no working row; the engine prunes
	 * nothing */
	for (int kind = 0; kind < ROW_EVENT; kind++)
		if (kind != ROW_SALVAGE && kind != ROW_PRUNED)
			count += see((struct bend){ BEND_PUT, kind, -1 }, &put_taken[kind],
			    "put of", row_types[kind].name, "a decision");
	/* after a turn, the baseline or a retry something else always begins; few merges wait for
	 * their permit */
	for (int kind = ACTIVITY_NONE + 1; kind < ACTIVITIES; kind++)
		if (kind != ACTIVITY_TURN && kind != ACTIVITY_TRAIN && kind != ACTIVITY_BASELINE &&
		    kind != ACTIVITY_RETRY && kind != ACTIVITY_CHECKS)
			count += see((struct bend){ BEND_ACTIVITY, kind, -1 }, &activity_taken[kind], "end of activity",
			    activity_name((enum activity_kind)kind), "any stage");
	return count;
}

static int print_untaken(struct bend bend, const struct taken *taken, const char *what,
    const char *name, const char *from)
{
	(void)bend;
	if (taken->count == 0)
		printf("%s %s from %s was never taken\n", what, name, from);
	return taken->count == 0;
}

/* Planting */

static int plant_steps, planted;

/* In a child: a bent row may well abort or loop. Returns 1 when it was noticed. */
static int plant(struct bend bend, const struct taken *taken, const char *what, const char *name, const char *from)
{
	pid_t pid;
	int status;

	planted++;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct rlimit cpu = { 20, 20 }, core = { 0, 0 };
		struct totals totals = { 0 };

		setrlimit(RLIMIT_CPU, &cpu);
		setrlimit(RLIMIT_CORE, &core);
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(2);
		bent = bend;
		for (int i = 0; i < taken->count; i++) {
			lost_put = 1 + i % 16;
			if (play(taken->seeds[i], plant_steps, &totals, false) != NULL)
				_exit(1);
		}
		_exit(0);
	}
	if (pid == -1 || waitpid(pid, &status, 0) == -1)
		return 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return 1;
	printf("%s %s from %s bent, and nobody noticed\n", what, name, from);
	return 0;
}

static int plants(int steps)
{
	int caught;

	plant_steps = steps;
	caught = each_row(plant);
	printf("planted rows: %d of %d caught\n", caught, planted);
	return caught == planted ? 0 : 1;
}

/* ---- days ---- */

static double processor_seconds(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	    (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static double minutes(int64_t ms)
{
	return (double)ms / 60000;
}

static void print_day(uint64_t seed, const struct day_figures *f, double seconds)
{
	const int64_t *waits = f->waits;
	double runs = (double)(f->runs + f->retries);

	printf("day %llu: %lld runs and %lld retries: %lld passed, %lld failed, %lld cancelled; %lld asked a human\n",
	    (unsigned long long)seed, (long long)f->runs, (long long)f->retries, (long long)f->passed,
	    (long long)f->failed, (long long)f->cancelled, (long long)f->held);
	printf("  a run: %.1f attempts (%.1f of agents), %.1f commits, %.1f events\n", (double)f->attempts / runs,
	    (double)f->agents / runs, (double)f->commits / runs, (double)f->events / runs);
	printf("  wait for the start, minutes: %.2f median, %.1f of 99 %%, %.1f longest; %lld queued at most\n",
	    minutes(waits[f->nwaits / 2]), minutes(waits[f->nwaits * 99 / 100]), minutes(waits[f->nwaits - 1]),
	    (long long)f->most_queued);
	printf("  %.1f processes of attempts at a time, over 24 h; %lld at most; the last run ended after %.1f h\n",
	    f->busy_ms / (24 * 3600e3), (long long)f->most_slots, minutes(f->ended_ms) / 60);
	printf("  %lld deaths of the daemon, %lld attempts lost, %lld refused by their service, "
	    "%lld submits refused on the full disk, %lld unanswered\n", (long long)f->deaths, (long long)f->lost,
	    (long long)f->refused, (long long)f->no_space, (long long)f->unanswered);
	printf("  %.2f s of processor with all laws, %s\n", seconds, f->digest);
}

static int days(long first, long seeds, long runs, long slots)
{
	struct rusage use;

	for (long seed = first; seed < first + seeds; seed++) {
		double begin = processor_seconds();
		struct world *w = playing = world_new_day((uint64_t)seed, runs, slots);
		const struct day_figures *f = day_play(w);

		if (world_error(w) != NULL) {
			printf("diverged: day %ld: %s\n", seed, world_error(w));
			if (show)
				show_runs(w);
			return 1;
		}
		print_day((uint64_t)seed, f, processor_seconds() - begin);
		fflush(stdout);
		world_free(w);
	}
	getrusage(RUSAGE_SELF, &use);
	printf("sim: %ld days of %ld runs in %ld slots: 0 divergences; %ld MiB resident at most\n", seeds, runs, slots,
	    use.ru_maxrss / 1024);
	return 0;
}

/* So many histories take every row. Of fewer, what was not taken is only told. */
#define COVERING 250

int main(int argc, char *argv[])
{
	enum { SEEDS = 256, FIRST, STEPS, PLANTS, TRACE, DEBUG, CROWD, SHOW, ONLY, A_DAY, RUNS,
	    SLOTS };
	static const struct option table[] = {
		{ "seeds", required_argument, NULL, SEEDS },
		{ "first", required_argument, NULL, FIRST },
		{ "steps", required_argument, NULL, STEPS },
		{ "plants", no_argument, NULL, PLANTS },
		{ "trace", required_argument, NULL, TRACE },
		{ "debug", no_argument, NULL, DEBUG },
		{ "crowd", no_argument, NULL, CROWD },
		{ "show", no_argument, NULL, SHOW },
		{ "only", required_argument, NULL, ONLY },
		{ "day", no_argument, NULL, A_DAY },
		{ "runs", required_argument, NULL, RUNS },
		{ "slots", required_argument, NULL, SLOTS },
		{ NULL, 0, NULL, 0 },
	};
	struct totals totals = { 0 };
	const char *diverged, *only = NULL;
	long seeds = 1000, first = 1, steps = 2000, trace = -1, runs = 1000, slots = 64;
	bool bend = false, day = false;
	int c;

	log_set_level(LOG_LEVEL_ERROR);
	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (c) {
		case SEEDS:
			seeds = strtol(optarg, NULL, 10);
			break;
		case FIRST:
			first = strtol(optarg, NULL, 10);
			break;
		case STEPS:
			steps = strtol(optarg, NULL, 10);
			break;
		case PLANTS:
			bend = true;
			break;
		case TRACE:
			trace = strtol(optarg, NULL, 10);
			break;
		case DEBUG:
			log_set_level(LOG_LEVEL_DEBUG);
			break;
		case CROWD:
			crowd = true;
			break;
		case SHOW:
			show = true;
			break;
		case A_DAY:
			day = true;
			break;
		case RUNS:
			runs = strtol(optarg, NULL, 10);
			break;
		case SLOTS:
			slots = strtol(optarg, NULL, 10);
			break;
		case ONLY:
			only = optarg;
			break;
		default:
			return 2;
		}
	}
	if (day)
		return days(first, seeds, runs, slots);
	if (trace >= 0)
		return trace_one((uint64_t)trace, (int)steps, only);
	for (long seed = first; seed < first + seeds; seed++) {
		diverged = play((uint64_t)seed, (int)steps, &totals, false);
		if (diverged != NULL) {
			printf("diverged: %s\n", diverged);
			shrink((uint64_t)seed, (int)steps, diverged);
			return 1;
		}
	}
	printf("sim: %ld histories, %ld runs, %ld attempts, %ld holds, %ld deaths of the daemon: "
	    "0 divergences\n", seeds, totals.runs, totals.attempts, totals.holds, totals.crashes);
	if (crowd)
		return 0;
	if (each_row(print_untaken) > 0 && (bend || seeds >= COVERING))
		return 1;
	return bend ? plants((int)steps) : 0;
}
