/* SPDX-License-Identifier: MIT */
/* Random histories of the engine in a simulated world, with deaths at any moment, compared with the reference model.
 *
 *   sim [--seeds N] [--first SEED] [--steps N]     every table row must have been taken at the end
 *   sim --plants                                   bend each table row in turn: the comparison must notice
 *   --debug                                        the engine's own log on stderr
 *   sim --trace SEED                               print a digest of one history: the same every time */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/memory.h"
#include "config/config.h"
#include "core/chain.h"
#include "core/review.h"
#include "core/run.h"
#include "core/slot.h"
#include "reference.h"
#include "world.h"

/* Rows taken, and the one that is bent. The linker sends the engine's calls through here (-Wl,--wrap). */

static uint64_t slot_taken[64], run_taken[64], review_taken[SLOT_EVENTS];
static int bent_slot = -1, bent_run = -1, bent_review = -1;

const struct slot_edge *__real_slot_step(enum slot_stage stage, enum slot_event event);
const struct slot_edge *__wrap_slot_step(enum slot_stage stage, enum slot_event event);
const struct run_edge *__real_run_step(enum run_state state, enum run_event event);
const struct run_edge *__wrap_run_step(enum run_state state, enum run_event event);
enum slot_event __real_review_classify(const struct review_facts *facts);
enum slot_event __wrap_review_classify(const struct review_facts *facts);

const struct slot_edge *__wrap_slot_step(enum slot_stage stage, enum slot_event event)
{
	static struct slot_edge bent;
	const struct slot_edge *edge = __real_slot_step(stage, event);

	if (edge == NULL)
		return NULL;
	slot_taken[edge - slot_edges]++;
	if (edge - slot_edges != bent_slot)
		return edge;
	bent = *edge;
	bent.next = edge->next == SLOT_S_PASSED ? SLOT_S_FAILED : edge->next == SLOT_S_FAILED || edge->next == SLOT_S_HELD ||
	    edge->next == SLOT_S_CANCELLED ? SLOT_S_PASSED : SLOT_S_FIXING;
	if (edge->next == SLOT_S_FIXING) {
		bent.next = SLOT_S_MEASURING;
		bent.action = SLOT_A_MEASURE;
	}
	return &bent;
}

const struct run_edge *__wrap_run_step(enum run_state state, enum run_event event)
{
	static struct run_edge bent;
	const struct run_edge *edge = __real_run_step(state, event);

	if (edge == NULL)
		return NULL;
	run_taken[edge - run_edges]++;
	if (edge - run_edges != bent_run)
		return edge;
	bent = *edge;
	bent.next = edge->next == RUN_S_SUCCEEDED ? RUN_S_FAILED : edge->next == RUN_S_RUNNING ? RUN_S_QUEUED : RUN_S_SUCCEEDED;
	return &bent;
}

enum slot_event __wrap_review_classify(const struct review_facts *facts)
{
	enum slot_event event = __real_review_classify(facts);

	review_taken[event]++;
	if ((int)event != bent_review)
		return event;
	return event == SLOT_E_PASS ? SLOT_E_FINDINGS : SLOT_E_PASS;
}

/* One run on disk against the reference */

static struct ref_attempt describe(const struct world *w, const struct attempt_row *row)
{
	const struct fate *f = world_fate(w, row->id);
	struct ref_attempt a = {
		.role = state_name(&role_names, row->role),
		.ended = row->state == ATTEMPT_S_EXITED || row->state == ATTEMPT_S_LOST,
		.lost = row->state == ATTEMPT_S_LOST,
	};

	if (f == NULL)
		return a;
	a.failed = f->result != FATE_OK;
	a.changed = row->role == ROLE_REVIEW ? !f->changes_tree : f->changes_tree;
	a.denied = f->denied;
	a.verdict = "pnsm"[f->verdict];
	return a;
}

static bool starts_with(const char *text, const char *prefix)
{
	return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

static void check_reviews(struct world *w, const struct run_rows *rows, const struct ref_end *end)
{
	char *broken = chain_verify(rows->reviews, rows->nreviews, rows->findings, rows->nfindings, rows->run.review_count, rows->run.review_head);

	if (broken != NULL)
		world_fail(w, "run %lld: %s", (long long)rows->run.id, broken);
	free(broken);
	if ((int)rows->nreviews > end->ndecisions)
		world_fail(w, "run %lld: %zu reviews, expected %d", (long long)rows->run.id, rows->nreviews, end->ndecisions);
	for (size_t i = 0; i < rows->nreviews && (int)i < end->ndecisions; i++)
		if (strcmp(rows->reviews[i]->decision, end->decisions[i]) != 0)
			world_fail(w, "run %lld: review %zu is %s, expected %s", (long long)rows->run.id, i + 1, rows->reviews[i]->decision, end->decisions[i]);
}

static void check_run(struct world *w, const struct run_rows *rows)
{
	struct ref_attempt attempts[128];
	struct plan plan;
	struct ref_run run;
	struct ref_end end;
	const char *state = state_name(&run_state_names, rows->run.state);
	bool cancelled = strcmp(state, "cancelled") == 0, git_failed = starts_with(rows->run.cause, "git ");

	if (rows->nattempts > 128 || plan_from_json(rows->run.plan, &plan) == -1) {
		world_fail(w, "run %lld cannot be looked at", (long long)rows->run.id);
		return;
	}
	for (size_t i = 0; i < rows->nattempts; i++)
		attempts[i] = describe(w, rows->attempts[i]);
	run = (struct ref_run){
		.review = plan.review, .has_git = rows->run.has_git == 1, .max_fixes = (int)plan.max_fixes, .stall_limit = (int)plan.stall_limit,
		.on_lost = "hrf"[plan.on_lost], .attempts = attempts, .count = (int)rows->nattempts,
	};
	plan_release(&plan);
	reference(&run, &end);
	if (end.wrong[0] != '\0')
		world_fail(w, "run %lld: %s", (long long)rows->run.id, end.wrong);
	if (end.used < run.count)
		world_fail(w, "run %lld: %d attempts on record, %d were needed", (long long)rows->run.id, run.count, end.used);
	if (cancelled && !world_cancel_asked(w, rows->run.id))
		world_fail(w, "run %lld is cancelled, but nobody asked", (long long)rows->run.id);
	if (world_cancel_acked(w, rows->run.id) && !cancelled)
		world_fail(w, "run %lld: the cancel was acknowledged, but it is %s", (long long)rows->run.id, state);
	if (!cancelled && !git_failed && strcmp(state, end.state) != 0 && !(strcmp(state, "queued") == 0 && run.count == 0))
		world_fail(w, "run %lld is %s (%s), expected %s", (long long)rows->run.id, state, rows->run.cause ? rows->run.cause : "no cause", end.state);
	if (git_failed && strcmp(state, "failed") != 0 && !cancelled)
		world_fail(w, "run %lld: git failed, but it is %s", (long long)rows->run.id, state);
	if (!cancelled && !git_failed && (int)rows->nreviews < end.ndecisions)
		world_fail(w, "run %lld: %zu reviews on record, expected %d", (long long)rows->run.id, rows->nreviews, end.ndecisions);
	if (strcmp(state, "succeeded") == 0 && run.review && (rows->run.result_ref == NULL || rows->run.result_tree == NULL))
		world_fail(w, "run %lld succeeded without a pinned tree", (long long)rows->run.id);
	check_reviews(w, rows, &end);
}

/* Laws that hold at every moment */
static void check_laws(struct world *w)
{
	const struct run_rows *rows = NULL, *other;
	int running = 0;

	while ((rows = view_next(world_disk(w), rows != NULL ? rows->run.id : 0)) != NULL) {
		if (rows->run.state == RUN_S_RUNNING && ++running > 3)
			world_fail(w, "more runs work than there are slots");
		if (rows->run.state != RUN_S_RUNNING)
			continue;
		other = rows;
		while ((other = view_next(world_disk(w), other->run.id)) != NULL)
			if ((other->run.state == RUN_S_RUNNING || other->run.state == RUN_S_HELD) && strcmp(other->run.workspace, rows->run.workspace) == 0)
				world_fail(w, "runs %lld and %lld share a workspace", (long long)rows->run.id, (long long)other->run.id);
	}
}

static void check_end(struct world *w)
{
	const struct run_rows *rows = NULL, *other;

	while ((rows = view_next(world_disk(w), rows != NULL ? rows->run.id : 0)) != NULL) {
		check_run(w, rows);
		if (rows->run.state == RUN_S_RUNNING)
			world_fail(w, "run %lld is still running, but nothing moves", (long long)rows->run.id);
		if (rows->run.state != RUN_S_QUEUED)
			continue;
		for (other = NULL; (other = view_next(world_disk(w), other != NULL ? other->run.id : 0)) != NULL;)
			if (other->run.state == RUN_S_HELD && strcmp(other->run.workspace, rows->run.workspace) == 0)
				break;
		if (other == NULL)
			world_fail(w, "run %lld stays queued, and nothing holds it back", (long long)rows->run.id);
	}
}

struct totals {
	long runs, attempts, crashes;
};

/* NULL: all is well; else what diverged, static. */
static const char *play(uint64_t seed, int steps, struct totals *totals, bool trace)
{
	static char error[640];
	struct world *w = world_new(seed);
	const struct run_rows *rows = NULL;
	struct buf history = { 0 };
	bool bad;

	for (int i = 0; i < steps && world_error(w) == NULL; i++) {
		world_step(w);
		check_laws(w);
	}
	if (world_error(w) == NULL && !world_settle(w))
		world_fail(w, "it never comes to rest");
	if (world_error(w) == NULL)
		check_end(w);
	totals->crashes += world_crashes(w);
	while ((rows = view_next(world_disk(w), rows != NULL ? rows->run.id : 0)) != NULL) {
		totals->runs++;
		totals->attempts += (long)rows->nattempts;
		buf_addf(&history, "%lld %s %s %zu %s\n", (long long)rows->run.id, state_name(&run_state_names, rows->run.state),
		    rows->run.cause ? rows->run.cause : "-", rows->nattempts, rows->run.review_head ? rows->run.review_head : "-");
	}
	if (trace) {
		char hex[DIGEST_HEX];

		digest_hex(history.data != NULL ? history.data : "", history.size, hex);
		printf("%s\n", hex);
	}
	buf_release(&history);
	bad = world_error(w) != NULL;
	if (bad)
		snprintf(error, sizeof(error), "seed %llu: %s", (unsigned long long)seed, world_error(w));
	if (bad)
		return error;	/* a diverged world is not taken apart */
	world_free(w);
	return NULL;
}

static int rows_untaken(void)
{
	int missing = 0;
	static const enum slot_event review_events[] = { SLOT_E_PASS, SLOT_E_FINDINGS, SLOT_E_EXHAUSTED, SLOT_E_STALLED, SLOT_E_VIOLATION };

	for (size_t i = 0; i < slot_edges_count; i++)
		if (slot_taken[i] == 0)
			missing += printf("slot row %zu (%s) was never taken\n", i, slot_event_name(slot_edges[i].event)) > 0;
	for (size_t i = 0; i < run_edges_count; i++)
		if (run_taken[i] == 0)
			missing += printf("run row %zu (%s) was never taken\n", i, run_event_name(run_edges[i].event)) > 0;
	for (size_t i = 0; i < sizeof(review_events) / sizeof(review_events[0]); i++)
		if (review_taken[review_events[i]] == 0)
			missing += printf("review row %s was never taken\n", slot_event_name(review_events[i])) > 0;
	return missing;
}

/* In a child: a bent row may well abort or loop. true: noticed. */
static bool plant(int slot, int run, int review, int seeds, int steps)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct rlimit cpu = { 10, 10 }, core = { 0, 0 };
		struct totals totals = { 0 };

		setrlimit(RLIMIT_CPU, &cpu);
		setrlimit(RLIMIT_CORE, &core);
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(2);
		bent_slot = slot;
		bent_run = run;
		bent_review = review;
		for (int seed = 1; seed <= seeds; seed++)
			if (play((uint64_t)seed, steps, &totals, false) != NULL)
				_exit(1);
		_exit(0);
	}
	if (pid == -1 || waitpid(pid, &status, 0) == -1)
		return false;
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static int plants(int seeds, int steps)
{
	static const enum slot_event events[] = { SLOT_E_PASS, SLOT_E_FINDINGS, SLOT_E_EXHAUSTED, SLOT_E_STALLED, SLOT_E_VIOLATION };
	int planted = 0, caught = 0;

	for (size_t i = 0; i < slot_edges_count; i++, planted++) {
		if (plant((int)i, -1, -1, seeds, steps))
			caught++;
		else
			printf("slot row %zu (%s) bent, and nobody noticed\n", i, slot_event_name(slot_edges[i].event));
	}
	for (size_t i = 0; i < run_edges_count; i++, planted++) {
		if (plant(-1, (int)i, -1, seeds, steps))
			caught++;
		else
			printf("run row %zu (%s) bent, and nobody noticed\n", i, run_event_name(run_edges[i].event));
	}
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++, planted++) {
		if (plant(-1, -1, (int)events[i], seeds, steps))
			caught++;
		else
			printf("review row %s bent, and nobody noticed\n", slot_event_name(events[i]));
	}
	printf("planted rows: %d of %d caught\n", caught, planted);
	return caught == planted ? 0 : 1;
}

int main(int argc, char *argv[])
{
	enum { SEEDS = 256, FIRST, STEPS, PLANTS, TRACE, DEBUG };
	static const struct option table[] = {
		{ "seeds", required_argument, NULL, SEEDS },
		{ "first", required_argument, NULL, FIRST },
		{ "steps", required_argument, NULL, STEPS },
		{ "plants", no_argument, NULL, PLANTS },
		{ "trace", required_argument, NULL, TRACE },
		{ "debug", no_argument, NULL, DEBUG },
		{ NULL, 0, NULL, 0 },
	};
	struct totals totals = { 0 };
	const char *diverged;
	long seeds = 2000, first = 1, steps = 2000, trace = -1;
	bool bend = false;
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
		default:
			return 2;
		}
	}
	if (bend)
		return plants((int)seeds, (int)steps);
	if (trace >= 0)
		return play((uint64_t)trace, (int)steps, &totals, true) != NULL;
	for (long seed = first; seed < first + seeds; seed++) {
		diverged = play((uint64_t)seed, (int)steps, &totals, false);
		if (diverged != NULL) {
			printf("diverged: %s\n", diverged);
			return 1;
		}
	}
	printf("sim: %ld histories, %ld runs, %ld attempts, %ld deaths of the daemon: 0 divergences\n", seeds, totals.runs, totals.attempts, totals.crashes);
	return rows_untaken() == 0 ? 0 : 1;
}
