/* SPDX-License-Identifier: MIT */
/* A transaction is one decision: edited rows, effects, answers and events. After its commit, and
 * not before, its effects run, its answers are given and its events are emitted. */
#ifndef TXN_TXN_H
#define TXN_TXN_H

#include <jansson.h>
#include <stdint.h>

#include "core/row.h"
#include "model/ports.h"
#include "model/reply.h"

struct engine;
struct run;
struct slot;

enum effect_kind {
	EFFECT_PREPARE,	/* the run's own slot: task file, base snapshot */
	EFFECT_BUILD,	/* build and launch the attempt id */
	EFFECT_LAUNCH,	/* launch the attempt id, which is built */
	EFFECT_STAGE,	/* take up the stage of the slot: struct stage, recover */
	EFFECT_GIT,	/* the run's own slot: start the git operation id */
	EFFECT_LOAD,	/* the run's own slot: wait between iterations, then ask the source */
	EFFECT_PERMIT,	/* wait for a permit */
	EFFECT_STEP,	/* launch the slot's step */
	EFFECT_END,	/* end the process of the slot */
	EFFECT_HOOK,	/* start the hook id */
	EFFECT_LOG,	/* write the review log of the slot's task */
	EFFECT_REPORT,	/* write the run's report */
	/* after the events, in this order */
	EFFECT_CLEANUP,	/* the run has ended: remove it */
	EFFECT_COOLING,	/* an account, a time or a budget that attempts wait for has changed */
	EFFECT_SCHEDULE,	/* a permit is free, or another run wants one */
	EFFECTS
};

/* An action that follows a decision when it is on disk. Keys, not pointers: the run may be gone. */
struct effect {
	enum effect_kind kind;
	int64_t run, iteration, slot;	/* ROW_NONE: no run; slot ROW_NONE: the run's own */
	int64_t id;
};

struct txn;

/* Functions of the rooms above, set once at start. */
struct txn_calls {
	void (*effect)(struct engine *engine, const struct effect *effect);
	void (*reconcile)(struct txn *txn, struct run *run);
};

/* Outcome of a decision: on disk (COMMIT_OK), or refused. */
typedef void txn_outcome_cb(void *arg, enum commit_result result);

struct txn *txn_new(struct engine *engine);

/* Editable working rows, which are const everywhere else. An edited row is recorded once, at the
 * commit, with the values it has then. */
struct run_row *txn_edit_run(struct txn *txn, const struct run *run);
struct slot_row *txn_edit_slot(struct txn *txn, const struct slot *slot);
struct task_row *txn_edit_task(struct txn *txn, const struct task_row *row);
struct iteration_row *txn_edit_iteration(struct txn *txn, const struct iteration_row *row);
struct attempt_row *txn_edit_attempt(struct txn *txn, const struct attempt_row *row);
struct hold_row *txn_edit_hold(struct txn *txn, const struct hold_row *row);
struct step_row *txn_edit_step(struct txn *txn, const struct step_row *row);
struct hook_row *txn_edit_hook(struct txn *txn, const struct hook_row *row);
/* Assign a task to the slot; NULL: none. */
void txn_set_task(struct txn *txn, struct slot *slot, const char *task);
/* Add a new row to the run, which takes ownership; recorded in the same way. */
void txn_add(struct txn *txn, const struct run *run, enum row_kind kind, void *row);
/* Remove the working row of something that never began, see decision_drop(). */
void txn_remove(struct txn *txn, const struct run *run, enum row_kind kind, const void *row);
/* Record a working row as it is now, and free it. */
void txn_retire(struct txn *txn, enum row_kind kind, const void *row);
/* Record, as it is now, a row that is no working row of a run. */
void txn_put(struct txn *txn, enum row_kind kind, const void *row);
/* See decision_drop(). */
void txn_drop(struct txn *txn, enum row_kind kind, const void *row);
/* Emit an event after the commit. Takes body. run: ROW_NONE for an event of the daemon. */
void txn_emit(struct txn *txn, const char *type, int64_t run, json_t *body);
void txn_effect(struct txn *txn, enum effect_kind kind, struct run *run, struct slot *slot, int64_t id);
/* EFFECT_HOOK: start the hook id, whose run may have ended. */
void txn_effect_hook(struct txn *txn, int64_t id);
/* EFFECT_SCHEDULE: a permit may be free, or what a run wants has changed. */
void txn_effect_schedule(struct txn *txn);
/* EFFECT_COOLING: what attempts wait for may have come. */
void txn_effect_cooling(struct txn *txn);
/* Apply an effect without a decision, when a clock or a setting has caused it. */
void effect_now(struct slot *slot, enum effect_kind kind, int64_t id);
void effect_schedule_now(struct engine *engine);
void effect_cooling_now(struct engine *engine);
/* Answer a request after the commit. run 0: the request concerns no run. */
void txn_reply(struct txn *txn, engine_reply_cb *cb, void *arg, int64_t run);
/* Have the run reconciled before the commit: a slot has come to rest, or what it waits for is
 * there. */
void txn_touch(struct txn *txn, struct run *run);
/* Reconcile the touched runs, then hand the decision to the store. */
void txn_commit(struct txn *txn);
/* The same; an empty transaction is freed instead. */
void txn_commit_or_drop(struct txn *txn);
int64_t txn_now(const struct txn *txn);
/* Call cb with the outcome, before the effects. refusable: the decision may be refused for lack of
 * space; it must not have changed a working row. */
void txn_on_outcome(struct txn *txn, bool refusable, txn_outcome_cb *cb, void *arg);

#endif
