/* SPDX-License-Identifier: MIT */
/* The law that holds memory against the disk: when no commit is in flight, the engine's working
 * rows equal the committed rows, field by field. An edit that no decision records would be lost
 * with the daemon. */
#include <string.h>

#include "model/model.h"
#include "model/runs.h"
#include "sched/accounts.h"
#include "sched/claims.h"
#include "slot/hooks.h"
#include "world_int.h"

static const char *row_name(enum row_kind kind)
{
	return row_types[kind].name;
}

static void compare_row(struct world *w, int64_t run, enum row_kind kind, const void *working, const void *committed)
{
	const struct field *field = row_difference(kind, working, committed);

	if (field != NULL)
		world_fail(w, "run %lld: the working row of %s differs from the committed one in %s",
		    (long long)run, row_name(kind), field->name);
}

static void compare_list(struct world *w, int64_t run, enum row_kind kind, void *const *working, size_t nworking,
    void *const *committed, size_t ncommitted)
{
	if (nworking != ncommitted)
		world_fail(w, "run %lld: %zu working rows of %s, %zu committed ones",
		    (long long)run, nworking, row_name(kind), ncommitted);
	for (size_t i = 0; i < nworking && i < ncommitted; i++)
		compare_row(w, run, kind, working[i], committed[i]);
}

#define COMPARE(kind, list)										\
	compare_list(w, a->run.id, kind, (void *const *)a->list, a->n##list, (void *const *)b->list, b->n##list)

static void compare_lists(struct world *w, const struct run_rows *a, const struct run_rows *b)
{
	compare_row(w, a->run.id, ROW_RUN, &a->run, &b->run);
	COMPARE(ROW_TASK, tasks);
	COMPARE(ROW_ITERATION, iterations);
	COMPARE(ROW_SLOT, slots);
	COMPARE(ROW_ATTEMPT, attempts);
	COMPARE(ROW_REVIEW, reviews);
	COMPARE(ROW_FINDING, findings);
	COMPARE(ROW_PRODUCT, products);
	COMPARE(ROW_EVIDENCE, evidence);
	COMPARE(ROW_ENTRY, entries);
	COMPARE(ROW_HOLD, holds);
}

/* The working row of an unfinished step stands in its slot. */
static void compare_steps(struct world *w, struct run *run, const struct run_rows *committed)
{
	size_t working = run->own.op.step != NULL;

	for (size_t i = 0; i < run->nslots; i++)
		working += run->slots[i]->op.step != NULL;
	if (working != committed->nsteps)
		world_fail(w, "run %lld: %zu steps under way, %zu committed ones",
		    (long long)committed->run.id, working, committed->nsteps);
	for (size_t i = 0; i < committed->nsteps; i++) {
		const struct step_row *row = committed->steps[i];
		const struct slot *slot = run_slot(run, row->iteration, row->slot);

		if (slot == NULL || slot->op.step == NULL)
			world_fail(w, "run %lld: step %lld is under way in no slot",
			    (long long)row->run, (long long)row->id);
		else
			compare_row(w, row->run, ROW_STEP, slot->op.step, row);
	}
}

/* Nothing of the daemon or the run itself stands in the way of the next task. */
static bool rolls_on(const struct engine *engine, const struct run *run)
{
	return !engine->draining && !engine->recovering && !engine->full && run->rows->run.state == RUN_S_RUNNING &&
	    !run_cancelling(run) && run->own.activity.kind == ACTIVITY_NONE && run->failure == NULL;
}

/* Its slots of the daemon, but for the baseline, are never more than it may have; after that was
 * lowered, they only get fewer. The reviewers of a panel come on top, and work that a human has
 * sent back to one. Who waits for one of the run's has to. */
static void check_permits_of(struct world *w, const struct run *run)
{
	int64_t held = 0, *before = &w->held[run->rows->run.id % HELD_RUNS];
	bool panel = false;

	for (size_t i = 0; i < run->nslots; i++) {
		panel |= run->slots[i]->row->stage == SLOT_S_PANEL;
		held += !slot_row_is_beside(run->slots[i]->row) &&
		    (run->slots[i]->has_permit || run->slots[i]->row->stage == SLOT_S_PANEL);
	}
	held += run->own.has_permit && !panel;
	if (run->plan.nreviewers == 0 && held > run->plan.parallel && held > *before)
		world_fail(w, "run %lld has %lld slots of the daemon, and may have %lld",
		    (long long)run->rows->run.id, (long long)held, (long long)run->plan.parallel);
	*before = held;
	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot_row *row = run->slots[i]->row;

		if (run->slots[i]->activity.kind == ACTIVITY_PERMIT && row->wait_kind == WAIT_SLOTS &&
		    held < run->plan.parallel && w->nquestions == 0)
			world_fail(w, "run %lld: slot %lld waits, and %lld of %lld of its slots are in use",
			    (long long)row->run, (long long)row->slot, (long long)held, (long long)run->plan.parallel);
	}
}

/* Who looks for slots and attempts looks at those that have begun. */
static void check_begun(struct world *w, const struct run *run)
{
	if (run->begun.le_prev == NULL &&
	    (run->nslots > 0 || run->rows->nattempts > 0 || run->own.activity.kind != ACTIVITY_NONE))
		world_fail(w, "run %lld is at work, and has not begun", (long long)run->rows->run.id);
}

static void compare_runs_of(struct world *w, struct engine *engine)
{
	struct run *run;

	LIST_FOREACH(run, &engine->runs, entry) {
		const struct run_rows *committed = view_run(w->disk, run->rows->run.id);

		if (committed == NULL) {
			world_fail(w, "run %lld is in memory only", (long long)run->rows->run.id);
			continue;
		}
		compare_lists(w, run->rows, committed);
		compare_steps(w, run, committed);
		check_begun(w, run);
		if (!engine->recovering)
			check_permits_of(w, run);
		if (rolls_on(engine, run))
			law_rolls(w, committed);
	}
}

/* Those that have ended are no working rows any more. */
static void compare_hooks(struct world *w, struct engine *engine)
{
	const struct hook *hook;

	LIST_FOREACH(hook, &engine->hooks, entry) {
		const struct hook_told *told = disk_hook(w, hook->row->id);

		if (told == NULL)
			world_fail(w, "hook %lld is in memory only", (long long)hook->row->id);
		else
			compare_row(w, hook->row->run, ROW_HOOK, hook->row, told->row);
	}
}

static void compare_claims(struct world *w, struct engine *engine)
{
	for (size_t i = 0; i < w->nclaims; i++) {
		const struct claim_row *claim = claims_find(engine->claims, w->claims[i]->source, w->claims[i]->task);

		if (claim == NULL)
			world_fail(w, "the claim of task %s is on disk only", w->claims[i]->task);
		else
			compare_row(w, claim->run, ROW_CLAIM, claim, w->claims[i]);
	}
}

/* What holds an account back is known by its row alone; a spent budget is asked for its
 * day's row as well. */
static void compare_cooldowns(struct world *w, struct engine *engine)
{
	for (size_t i = 0; i < ACCOUNTS; i++) {
		const struct cooldown_row *working = account_cooldown(engine, world_accounts[i]), *committed = NULL;

		for (size_t n = 0; n < w->ncooldowns; n++)
			if (strcmp(w->cooldowns[n]->account, world_accounts[i]) == 0)
				committed = w->cooldowns[n];
		if (working != NULL && committed == NULL)
			world_fail(w, "the cooldown of account %s is in memory only", world_accounts[i]);
		else if (working != NULL)
			compare_row(w, ROW_NONE, ROW_COOLDOWN, working, committed);
		else if (committed != NULL && committed->kind != COOLDOWN_BUDGET && committed->until > w->now)
			world_fail(w, "the cooldown of account %s is on disk only", world_accounts[i]);
	}
}

void memory_check(struct world *w)
{
	if (w->ncommits > 0 || world_error(w) != NULL)
		return;
	compare_runs_of(w, w->engine);
	compare_hooks(w, w->engine);
	compare_claims(w, w->engine);
	compare_cooldowns(w, w->engine);
}
