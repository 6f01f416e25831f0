/* SPDX-License-Identifier: MIT */
#include "model/runs.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/order.h"
#include "core/plan_json.h"
#include "model/environments.h"
#include "model/model.h"
#include "proto/memory.h"

static int compare(struct run *a, struct run *b)
{
	return order(a->rows->run.id, b->rows->run.id);
}

static int compare_after(struct run *a, struct run *b)
{
	int by_run = order(a->rows->run.after_run, b->rows->run.after_run);

	return by_run != 0 ? by_run : compare(a, b);
}

TREE(run_tree, run, by_id, compare)
TREE(run_after_tree, run, by_after, compare_after)

struct run *run_new(struct engine *engine, struct run_rows *rows, struct plan *plan)
{
	struct run *run = xcalloc(1, sizeof(*run));

	if (plan != NULL) {
		plan_move(&run->plan, plan);
	} else if (plan_from_json(rows->run.plan, &run->plan) == -1) {
		free(run);
		return NULL;
	}
	run->engine = engine;
	run->rows = rows;
	run->asked = SIZE_MAX;
	run->asked_at = ROW_NONE;
	slot_init(&run->own, run, NULL);
	LIST_INSERT_HEAD(&engine->runs, run, entry);
	if (rows->run.started_at != ROW_NONE)
		run_begin(run);
	environment_use(engine, rows->run.environment);
	RB_INSERT(run_tree, &engine->runs_by_id, run);
	if (rows->run.after_run != ROW_NONE)
		RB_INSERT(run_after_tree, &engine->runs_by_after, run);
	return run;
}

void run_free(struct run *run)
{
	LIST_REMOVE(run, entry);
	if (run->begun.le_prev != NULL)
		LIST_REMOVE(run, begun);
	environment_leave(run->engine, run->rows->run.environment);
	RB_REMOVE(run_tree, &run->engine->runs_by_id, run);
	if (run->rows->run.after_run != ROW_NONE)
		RB_REMOVE(run_after_tree, &run->engine->runs_by_after, run);
	for (size_t i = 0; i < run->nslots; i++) {
		slot_release(run->slots[i]);
		free(run->slots[i]);
	}
	free(run->slots);
	slot_release(&run->own);
	free(run->failure);
	free(run->iteration_tree);
	free(run->iteration_head);
	free(run->iteration_head_at);
	strings_free(run->basis);
	plan_release(&run->plan);
	run_rows_free((struct run_rows *)run->rows);
	free(run);
}

void run_begin(struct run *run)
{
	if (run->begun.le_prev == NULL)
		LIST_INSERT_HEAD(&run->engine->begun, run, begun);
}

struct run *run_find(struct engine *engine, int64_t id)
{
	struct run *run = RB_ROOT(&engine->runs_by_id);

	while (run != NULL && run->rows->run.id != id)
		run = id < run->rows->run.id ? RB_LEFT(run, by_id) : RB_RIGHT(run, by_id);
	return run;
}

struct run *run_after(const struct run *run, struct run *before)
{
	struct run_rows rows = { .run = { .id = INT64_MIN, .after_run = run->rows->run.id } };
	struct run key = { .rows = &rows }, *next;

	if (before == NULL)
		next = RB_NFIND(run_after_tree, &run->engine->runs_by_after, &key);
	else
		next = RB_NEXT(run_after_tree, &run->engine->runs_by_after, before);
	return next != NULL && next->rows->run.after_run == run->rows->run.id ? next : NULL;
}

struct slot *run_slot(struct run *run, int64_t iteration, int64_t number)
{
	if (number == ROW_NONE)
		return &run->own;
	for (size_t i = 0; i < run->nslots; i++)
		if (run->slots[i]->row->iteration == iteration && run->slots[i]->row->slot == number)
			return run->slots[i];
	return NULL;
}

struct slot *run_slot_of(struct run *run, const struct attempt_row *a)
{
	for (size_t i = 0; i < run->nslots; i++)
		if (slot_has_attempt(run->slots[i], a) && run->slots[i]->row->attempt == a->id)
			return run->slots[i];
	return NULL;
}

void run_add_slot(struct run *run, const struct slot_row *row)
{
	run->slots = xreallocarray(run->slots, run->nslots + 1, sizeof(*run->slots));
	run->slots[run->nslots] = xcalloc(1, sizeof(struct slot));
	slot_init(run->slots[run->nslots++], run, row);
}

const struct slot_row *run_baseline(const struct run *run)
{
	for (size_t i = 0; i < run->rows->nslots; i++)
		if (run->rows->slots[i]->slot == SLOT_BASELINE)
			return run->rows->slots[i];
	return NULL;
}

bool run_base_failed(const struct run *run)
{
	const struct slot_row *row = run_baseline(run);

	return row != NULL && row->stage == SLOT_S_FAILED && row->end_kind == END_BASE;
}

bool run_gave_up(const struct run *run)
{
	for (size_t i = 0; i < run->rows->nslots; i++)
		if (run->rows->slots[i]->stage == SLOT_S_FAILED && run->rows->slots[i]->end_kind == END_NOT_REVIEWED)
			return true;
	return run->failure != NULL;
}

/* From earlier iterations only slots that still wait for something. */
void run_make_slots(struct run *run)
{
	const struct run_rows *rows = run->rows;

	for (size_t i = 0; i < rows->nslots; i++) {
		const struct slot_row *slot_row = rows->slots[i];

		if (slot_row->iteration == rows->run.iteration ||
		    !slot_stage_is_end((enum slot_stage)slot_row->stage) ||
		    slot_row->leaving != LEAVING_NOTHING)
			run_add_slot(run, rows->slots[i]);
	}
}

bool run_is_recorded(const struct run *run)
{
	return run->rows->run.product_count != ROW_NONE;
}

bool run_is_prepared(const struct run *run)
{
	const struct run_row *row = &run->rows->run;
	/* an agent's commits come after the tree */
	bool both = run->plan.commit == COMMIT_MODE_AGENT && row->has_git == 1 &&
	    run->plan.isolation != ISOLATION_WORKTREE;

	return row->iteration > 0 || row->base_commit != NULL || (row->base_tree != NULL && !both);
}

bool run_is_at_work(const struct engine *engine, const char *evidence)
{
	const struct run *run;

	LIST_FOREACH(run, &engine->begun, begun)
		if (object_is(run->rows->run.evidence, evidence) && run_is_prepared(run))
			return true;
	return false;
}

bool run_is_active(const struct run *run)
{
	bool active = activity_is_busy(&run->own.activity);

	/* what waits for the host also waits in the next daemon */
	for (size_t i = 0; i < run->nslots; i++)
		active |= activity_is_busy(&run->slots[i]->activity);
	return active;
}

/* The cause is recorded with the cancel, the state when nothing is running any more. */
bool run_cancelling(const struct run *run)
{
	return run->rows->run.end_kind != END_NONE && !run_state_is_end((enum run_state)run->rows->run.state);
}

bool slot_ending(const struct slot *slot)
{
	return slot->row != NULL ? slot->row->stage == SLOT_S_ENDING : run_cancelling(slot->run);
}

enum source_kind run_source(const struct run *run)
{
	int kind = source_find(run->rows->run.source);

	if (kind == -1)
		log_fatal("run %lld: unknown task source '%s'; restore a backup",
		    (long long)run->rows->run.id, run->rows->run.source);
	return (enum source_kind)kind;
}

const struct attempt_row *run_attempt(const struct run *run, int64_t id)
{
	const struct attempt_row *a = run_rows_attempt(run->rows, id);

	if (a != NULL)
		return a;
	log_fatal("run %lld: attempt %lld does not exist; restore a backup",
	    (long long)run->rows->run.id, (long long)id);
}
