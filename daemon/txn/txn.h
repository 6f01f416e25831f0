/* SPDX-License-Identifier: MIT */
/* A transaction is one decision on its way: rows are put into it, it is committed, and only then its effects run, its replies
 * are given and its events told. */
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
	EFFECT_STAGE,	/* take up the stage of the slot: struct stage, recover */
	EFFECT_GIT,	/* the run's own slot: begin the git operation id */
	EFFECT_LOAD,	/* the run's own slot: wait between iterations, then ask the source */
	EFFECT_PERMIT,	/* wait for a permit */
	EFFECT_STEP,	/* launch the slot's step */
	EFFECT_END,	/* end what is under way in the slot */
	EFFECT_HOOK,	/* start the hook id */
	EFFECT_LOG,	/* write the review log of the slot's task */
	EFFECT_REPORT,	/* write the run's report */
	/* after the events, in this order */
	EFFECT_CLEANUP,	/* the run has ended: remove it */
	EFFECT_COOLING,	/* what attempts wait for before they start has changed */
	EFFECT_SCHEDULE,	/* a slot of the daemon is free again */
	EFFECTS
};

/* What follows from a decision once it is on disk. By key: the run may be gone by then. */
struct effect {
	enum effect_kind kind;
	int64_t run, iteration, slot;	/* ROW_NONE: of no run; slot ROW_NONE: the run's own */
	int64_t id;
};

struct txn;

/* What transactions call of the rooms above; set once, at start. */
struct txn_calls {
	void (*effect)(struct engine *engine, const struct effect *effect);
	void (*reconcile)(struct txn *txn, struct run *run);
};

/* The decision is on disk (COMMIT_OK), or was refused. False, after a refusal: it must be recorded all the same, as soon as there is space. */
typedef bool txn_outcome_cb(void *arg, enum commit_result result);

struct txn *txn_new(struct engine *engine);

/* Working rows are const to everybody else. These give one to be edited: it is recorded at the commit, once, as it is then. */
struct run_row *txn_edit_run(struct txn *txn, const struct run *run);
struct slot_row *txn_edit_slot(struct txn *txn, const struct slot *slot);
struct task_row *txn_edit_task(struct txn *txn, const struct task_row *row);
struct iteration_row *txn_edit_iteration(struct txn *txn, const struct iteration_row *row);
struct attempt_row *txn_edit_attempt(struct txn *txn, const struct attempt_row *row);
struct hold_row *txn_edit_hold(struct txn *txn, const struct hold_row *row);
struct step_row *txn_edit_step(struct txn *txn, const struct step_row *row);
struct hook_row *txn_edit_hook(struct txn *txn, const struct hook_row *row);
/* The slot has another task from now on; NULL: none. */
void txn_set_task(struct txn *txn, struct slot *slot, const char *task);
/* A new row of the run, which takes it; recorded in the same way. */
void txn_add(struct txn *txn, const struct run *run, enum row_kind kind, void *row);
/* A row of something that never began is no working row any more, see decision_drop(). */
void txn_remove(struct txn *txn, const struct run *run, enum row_kind kind, const void *row);
/* The working row is over: it is recorded as it is now, and freed. */
void txn_retire(struct txn *txn, enum row_kind kind, const void *row);
/* A row that is no working row of a run, as it is now. */
void txn_put(struct txn *txn, enum row_kind kind, const void *row);
/* See decision_drop(). */
void txn_drop(struct txn *txn, enum row_kind kind, const void *row);
/* Consumes body. run: ROW_NONE for an event of the daemon. */
void txn_emit(struct txn *txn, const char *type, int64_t run, json_t *body);
void txn_effect(struct txn *txn, enum effect_kind kind, struct run *run, struct slot *slot, int64_t id);
/* EFFECT_HOOK: start the hook of that id, whose run may be over. */
void txn_effect_hook(struct txn *txn, int64_t id);
/* A slot of the daemon may be free, or what somebody wants has changed. */
void txn_effect_schedule(struct txn *txn);
/* What attempts wait for before they start may be there. */
void txn_effect_cooling(struct txn *txn);
/* Without a decision: what the effect would do. For what a clock or a setting has brought about. */
void effect_now(struct slot *slot, enum effect_kind kind, int64_t id);
void effect_schedule_now(struct engine *engine);
void effect_cooling_now(struct engine *engine);
/* run 0: it is about none. */
void txn_reply(struct txn *txn, engine_reply_cb *cb, void *arg, int64_t run);
/* A slot of the run has come to rest, or what the run waits for may be there: it is reconciled before the commit. */
void txn_touch(struct txn *txn, struct run *run);
/* Reconciles the runs that were touched, then hands the decision to the store. */
void txn_commit(struct txn *txn);
/* The same, unless nothing is in it. */
void txn_commit_or_drop(struct txn *txn);
int64_t txn_now(const struct txn *txn);
/* To be told the outcome, before the effects. refusable: it may be refused for lack of space, and has changed no working row then. */
void txn_on_outcome(struct txn *txn, bool refusable, txn_outcome_cb *cb, void *arg);

#endif
