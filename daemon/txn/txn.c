/* SPDX-License-Identifier: MIT */
#include "txn/txn.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/decision.h"
#include "core/entries.h"
#include "core/row.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/ports.h"
#include "model/reply.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/error.h"
#include "proto/memory.h"

/* A row edited by the transaction. */
struct txn_row {
	enum row_kind kind;
	const void *row;
};

struct txn_answer {
	engine_reply_cb *cb;
	void *arg;
	int64_t run;
};

struct txn {
	struct engine *engine;
	struct decision decision;
	struct txn_row *rows;
	size_t nrows;
	struct effect *effects;
	size_t neffects;
	struct txn_answer *answers;
	size_t nanswers;
	struct run **touched;
	size_t ntouched;
	bool refusable;
	txn_outcome_cb *outcome;	/* NULL: no callback */
	void *outcome_arg;
};

struct txn *txn_new(struct engine *engine)
{
	struct txn *txn = xcalloc(1, sizeof(*txn));

	txn->engine = engine;
	return txn;
}

void txn_put(struct txn *txn, enum row_kind kind, const void *row)
{
	decision_put(&txn->decision, kind, row);
}

void txn_drop(struct txn *txn, enum row_kind kind, const void *row)
{
	decision_drop(&txn->decision, kind, row);
}

void txn_emit(struct txn *txn, const char *type, int64_t run, json_t *body)
{
	char *text;

	if (body == NULL) {
		log_bug("event %s has no body", type);
		body = json_object();
	}
	text = json_dumps(body, JSON_COMPACT);
	if (text == NULL)
		abort();
	decision_tell(&txn->decision, engine_now(txn->engine), type, run, text);
	free(text);
	json_decref(body);
}

/* Its changes until the commit count. */
static void note_row(struct txn *txn, enum row_kind kind, const void *row)
{
	txn->rows = xreallocarray(txn->rows, txn->nrows + 1, sizeof(*txn->rows));
	txn->rows[txn->nrows++] = (struct txn_row){ kind, row };
}

/* The same working row, writable; only for this room. */
static void *edit(struct txn *txn, enum row_kind kind, const void *row)
{
	for (size_t i = 0; i < txn->nrows; i++)
		if (txn->rows[i].row == row)
			return (void *)row;
	note_row(txn, kind, row);
	return (void *)row;
}

struct run_row *txn_edit_run(struct txn *txn, const struct run *run)
{
	return edit(txn, ROW_RUN, &run->rows->run);
}

struct slot_row *txn_edit_slot(struct txn *txn, const struct slot *slot)
{
	return edit(txn, ROW_SLOT, slot->row);
}

struct task_row *txn_edit_task(struct txn *txn, const struct task_row *row)
{
	return edit(txn, ROW_TASK, row);
}

struct iteration_row *txn_edit_iteration(struct txn *txn, const struct iteration_row *row)
{
	return edit(txn, ROW_ITERATION, row);
}

struct attempt_row *txn_edit_attempt(struct txn *txn, const struct attempt_row *row)
{
	return edit(txn, ROW_ATTEMPT, row);
}

struct hold_row *txn_edit_hold(struct txn *txn, const struct hold_row *row)
{
	return edit(txn, ROW_HOLD, row);
}

struct step_row *txn_edit_step(struct txn *txn, const struct step_row *row)
{
	return edit(txn, ROW_STEP, row);
}

struct hook_row *txn_edit_hook(struct txn *txn, const struct hook_row *row)
{
	return edit(txn, ROW_HOOK, row);
}

void txn_set_task(struct txn *txn, struct slot *slot, const char *task)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	char *copy = xstrdup(task);

	free(row->task);
	row->task = copy;
	slot_load_plan(slot);
}

void txn_add(struct txn *txn, const struct run *run, enum row_kind kind, void *row)
{
	/* only the store has a task's text, because it may be 16 MiB */
	if (kind == ROW_TASK) {
		txn_put(txn, ROW_TASK, row);
		text_set(&((struct task_row *)row)->text, NULL);
		run_rows_put((struct run_rows *)run->rows, kind, row);
		return;
	}
	run_rows_put((struct run_rows *)run->rows, kind, row);
	note_row(txn, kind, row);
}

/* Do not record it any more. */
static void unedit(struct txn *txn, const void *row)
{
	for (size_t i = 0; i < txn->nrows; i++)
		if (txn->rows[i].row == row) {
			memmove(txn->rows + i, txn->rows + i + 1, (--txn->nrows - i) * sizeof(*txn->rows));
			return;
		}
}

void txn_remove(struct txn *txn, const struct run *run, enum row_kind kind, const void *row)
{
	unedit(txn, row);
	txn_drop(txn, kind, row);
	run_rows_drop((struct run_rows *)run->rows, kind, row);
}

void txn_retire(struct txn *txn, enum row_kind kind, const void *row)
{
	unedit(txn, row);
	txn_put(txn, kind, row);
	row_free(kind, row);
}

/* The run whose record the row enters, if it is not there in this form; NULL: none, as those of
 * earlier versions. */
static struct run *run_of_entry(struct txn *txn, enum row_kind kind, const void *row)
{
	struct run *run = entry_is_due(kind, row) ? run_find(txn->engine, entry_run(kind, row)) : NULL;

	return run != NULL && run->rows->run.entry_count != ROW_NONE ? run : NULL;
}

static void add_entry(struct txn *txn, struct run *run, const struct entry_row *last, enum row_kind kind,
    const void *row)
{
	struct entry_row *entry = entry_make(last, kind, row, run->rows->run.entry_count, run->rows->run.entry_head,
	    txn_now(txn));
	struct run_row *r;

	if (entry == NULL)
		return;
	r = txn_edit_run(txn, run);
	r->entry_count = entry->number;
	text_set(&r->entry_head, entry->hash);
	txn_add(txn, run, ROW_ENTRY, entry);
}

/* A row that has ended enters the record of its run; one that changes after that enters once more,
 * and its newest entry counts. */
static void record_row(struct txn *txn, enum row_kind kind, const void *row)
{
	struct run *run = run_of_entry(txn, kind, row);
	char *key;

	if (run == NULL)
		return;
	key = entry_key(kind, row);
	add_entry(txn, run, entry_newest(run->rows->entries, run->rows->nentries, row_types[kind].name, key), kind,
	    row);
	free(key);
}

/* A task may be over before the run sees it: it is not edited. */
static void record_tasks(struct txn *txn, struct run *run)
{
	struct entry_index index = entry_index_make(run->rows->entries, run->rows->nentries, ROW_TASK);

	for (size_t i = 0; i < run->rows->ntasks; i++) {
		const struct task_row *task = run->rows->tasks[i];

		if (run_of_entry(txn, ROW_TASK, task) != NULL)
			add_entry(txn, run, entry_index_newest(&index, task->id), ROW_TASK, task);
	}
	entry_index_free(&index);
}

/* The run that the edited row belongs to, if that is a run or a task and the run has ended; else
 * NULL. */
static struct run *over(struct txn *txn, struct txn_row edited)
{
	struct run *run = edited.kind == ROW_RUN || edited.kind == ROW_TASK ?
	    run_find(txn->engine, entry_run(edited.kind, edited.row)) : NULL;

	return run != NULL ? run_of_entry(txn, ROW_RUN, &run->rows->run) : NULL;
}

/* Of runs that are over all tasks, then other rows; the rows of such runs come last: their hashes
 * cover the heads of the other chains. */
static void record_ended(struct txn *txn)
{
	struct run *run, *done = NULL;

	for (size_t i = 0; i < txn->nrows; i++)
		if ((run = over(txn, txn->rows[i])) != NULL && run != done)
			record_tasks(txn, done = run);
	for (size_t i = 0; i < txn->nrows; i++)
		if (txn->rows[i].kind != ROW_RUN && over(txn, txn->rows[i]) == NULL)
			record_row(txn, txn->rows[i].kind, txn->rows[i].row);
	for (size_t i = 0; i < txn->nrows; i++)
		if (txn->rows[i].kind == ROW_RUN)
			record_row(txn, ROW_RUN, txn->rows[i].row);
}

/* Add the edited rows to the decision, as they are now. */
static void record(struct txn *txn)
{
	record_ended(txn);
	for (size_t i = 0; i < txn->nrows; i++)
		txn_put(txn, txn->rows[i].kind, txn->rows[i].row);
	txn->nrows = 0;
}

static void add_effect(struct txn *txn, struct effect effect)
{
	txn->effects = xreallocarray(txn->effects, txn->neffects + 1, sizeof(*txn->effects));
	txn->effects[txn->neffects++] = effect;
}

static struct effect effect_of(enum effect_kind kind, const struct run *run, const struct slot *slot, int64_t id)
{
	const struct slot_row *row = slot != NULL ? slot->row : NULL;

	return (struct effect){
		.kind = kind,
		.run = run->rows->run.id,
		.iteration = row != NULL ? row->iteration : ROW_NONE,
		.slot = row != NULL ? row->slot : ROW_NONE,
		.id = id,
	};
}

void txn_effect(struct txn *txn, enum effect_kind kind, struct run *run, struct slot *slot, int64_t id)
{
	add_effect(txn, effect_of(kind, run, slot, id));
	if (slot != NULL && kind != EFFECT_END && kind != EFFECT_LOG)
		activity_start_commit(&slot->activity);
	if (kind == EFFECT_PERMIT)
		txn_effect_schedule(txn);
}

/* For an effect without a run. */
static void effect_of_engine(struct txn *txn, enum effect_kind kind, int64_t id)
{
	/* effects on the whole engine are needed only once */
	for (size_t i = 0; kind > EFFECT_CLEANUP && i < txn->neffects; i++)
		if (txn->effects[i].kind == kind)
			return;
	add_effect(txn, (struct effect){ .kind = kind, .run = ROW_NONE, .iteration = ROW_NONE,
	    .slot = ROW_NONE, .id = id });
}

void txn_effect_hook(struct txn *txn, int64_t id)
{
	effect_of_engine(txn, EFFECT_HOOK, id);
}

void txn_effect_schedule(struct txn *txn)
{
	effect_of_engine(txn, EFFECT_SCHEDULE, ROW_NONE);
}

void txn_effect_cooling(struct txn *txn)
{
	effect_of_engine(txn, EFFECT_COOLING, ROW_NONE);
}

void effect_now(struct slot *slot, enum effect_kind kind, int64_t id)
{
	const struct effect effect = effect_of(kind, slot->run, slot, id);

	slot->run->engine->calls->effect(slot->run->engine, &effect);
}

static void engine_effect_now(struct engine *engine, enum effect_kind kind)
{
	const struct effect effect = { kind, ROW_NONE, ROW_NONE, ROW_NONE, ROW_NONE };

	engine->calls->effect(engine, &effect);
}

void effect_schedule_now(struct engine *engine)
{
	engine_effect_now(engine, EFFECT_SCHEDULE);
}

void effect_cooling_now(struct engine *engine)
{
	engine_effect_now(engine, EFFECT_COOLING);
}

void txn_reply(struct txn *txn, engine_reply_cb *cb, void *arg, int64_t run)
{
	txn->answers = xreallocarray(txn->answers, txn->nanswers + 1, sizeof(*txn->answers));
	txn->answers[txn->nanswers++] = (struct txn_answer){ cb, arg, run };
}

/* Carry out the effects of one kind. */
static void apply_effects(const struct txn *txn, enum effect_kind kind)
{
	for (size_t i = 0; i < txn->neffects; i++)
		if (txn->effects[i].kind == kind)
			txn->engine->calls->effect(txn->engine, &txn->effects[i]);
}

static void give_answers(const struct txn *txn)
{
	for (size_t i = 0; i < txn->nanswers; i++) {
		struct engine_reply reply = {
			.id = txn->answers[i].run,
			.rows = view_run(txn->engine->view, txn->answers[i].run),
		};

		if (reply.rows == NULL && txn->answers[i].run != 0) {
			reply.code = RPC_NOT_FOUND;
			reply.message = "the run has already ended";
		}
		txn->answers[i].cb(txn->answers[i].arg, &reply);
	}
}

static void txn_free(struct txn *txn)
{
	free(txn->touched);
	free(txn->rows);
	decision_release(&txn->decision);
	free(txn->effects);
	free(txn->answers);
	free(txn);
}

/* The decision is on disk, or was refused. In this order:
 *   install   put the rows into the view, so that everything after it reads committed rows
 *   effects   start and end what was decided
 *   answers   reply to the clients that asked
 *   events    emit the events, then carry out the effects from EFFECT_CLEANUP on */
static void txn_done(void *arg, enum commit_result result, struct decision *d)
{
	struct txn *txn = arg;
	struct engine *engine = txn->engine;

	engine->commits--;
	/* a decision about something that has happened cannot be refused: the store waits for
	 * space */
	if (result == COMMIT_NO_SPACE && !txn->refusable)
		log_fatal("a decision that cannot be refused was refused for lack of space");
	if (result == COMMIT_OK)
		view_install(engine->view, d);
	if (txn->outcome != NULL)
		txn->outcome(txn->outcome_arg, result);
	if (result == COMMIT_OK) {
		for (size_t i = 0; i < txn->neffects && !engine->stopped; i++)
			if (txn->effects[i].kind < EFFECT_CLEANUP)
				engine->calls->effect(engine, &txn->effects[i]);
		give_answers(txn);
		engine->committed(engine->arg, d);
		for (int kind = EFFECT_CLEANUP; kind < EFFECTS; kind++)
			apply_effects(txn, (enum effect_kind)kind);
	}
	txn_free(txn);
}

void txn_touch(struct txn *txn, struct run *run)
{
	for (size_t i = 0; i < txn->ntouched; i++)
		if (txn->touched[i] == run)
			return;
	txn->touched = xreallocarray(txn->touched, txn->ntouched + 1, sizeof(struct run *));
	txn->touched[txn->ntouched++] = run;
}

/* Remove and return the run that was touched first; NULL: none. */
static struct run *next_touched(struct txn *txn)
{
	struct run *run = txn->ntouched > 0 ? txn->touched[0] : NULL;

	if (run != NULL)
		memmove(txn->touched, txn->touched + 1, --txn->ntouched * sizeof(struct run *));
	return run;
}

/* Until nothing changes: a reconciled run may touch itself or others. */
static void reconcile(struct txn *txn)
{
	struct run *run;

	while ((run = next_touched(txn)) != NULL)
		txn->engine->calls->reconcile(txn, run);
}

void txn_commit(struct txn *txn)
{
	reconcile(txn);
	record(txn);
	txn->engine->commits++;
	txn->engine->ports.commit(txn->engine->ports.store_ctx, &txn->decision, txn->refusable, txn_done,
	    txn);
}

void txn_commit_or_drop(struct txn *txn)
{
	reconcile(txn);
	if (txn->nrows > 0 || txn->decision.count > 0 || txn->neffects > 0 || txn->nanswers > 0)
		txn_commit(txn);
	else
		txn_free(txn);
}

void txn_on_outcome(struct txn *txn, bool refusable, txn_outcome_cb *cb, void *arg)
{
	txn->refusable = refusable;
	txn->outcome = cb;
	txn->outcome_arg = arg;
}

int64_t txn_now(const struct txn *txn)
{
	return engine_now(txn->engine);
}
