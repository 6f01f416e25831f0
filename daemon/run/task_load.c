/* SPDX-License-Identifier: MIT */
#include "run/task_load.h"

#include <stdlib.h>

#include "core/cause.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/run.h"
#include "core/state.h"
#include "git/git_op.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "run/lifecycle.h"
#include "run/loop.h"
#include "run/task_refresh.h"
#include "sched/permits.h"
#include "slot/git_request.h"
#include "slot/operation.h"
#include "task/task_op.h"
#include "txn/emit.h"
#include "txn/txn.h"

static void rest_is_over(struct run *run)
{
	struct txn *txn = txn_new(run->engine);

	txn_edit_run(txn, run)->next_at = ROW_NONE;
	txn_effect(txn, EFFECT_LOAD, run, &run->own, ROW_NONE);
	txn_commit(txn);
}

static void rest_cb(void *arg, const struct wake *wake)
{
	struct engine *engine = arg;
	struct run *run = run_find(engine, wake->run);

	/* it may have been cancelled, or paused, which starts the wait again */
	if (!engine->stopped && run != NULL && run->rows->run.next_at == wake->until &&
	    run->own.activity.kind == ACTIVITY_JOB)
		rest_is_over(run);
}

/* The pause between two iterations, until the time in the row; not longer than configured, if the
 * clock was set back. */
static void rest(struct run *run)
{
	int64_t until = run->rows->run.next_at, latest = engine_now(run->engine) + run->plan.pause_ms;

	activity_start_job(&run->own.activity);
	engine_wake(run->engine, (struct wake){ .at = until < latest ? until : latest,
	    .until = until, .run = run->rows->run.id }, rest_cb);
}

/* In a shared tree the work of a task begins with the tree left by earlier tasks, and its review
 * covers only its own changes. */
static bool begins_where_it_stands(const struct run *run)
{
	const struct plan *plan = &run->plan;

	/* a retry continues in the tree that the run before it has left */
	return (run->rows->run.iteration > 0 || run->rows->run.start != NULL) && run->rows->run.has_git == 1 &&
	    plan->isolation != ISOLATION_WORKTREE && plan->base == NULL;
}

void run_load(struct run *run)
{
	struct txn *txn;

	if (run->engine->draining) {
		/* the next daemon continues it */
		activity_end(&run->own.activity);
		return;
	}
	if (run->rows->run.next_at != ROW_NONE) {
		rest(run);
		return;
	}
	if (begins_where_it_stands(run) && run->iteration_tree == NULL) {
		git_begin(&run->own, GIT_SNAPSHOT);
		return;
	}
	run->asked = run_settled(run);
	run->asked_at = engine_now(run->engine);
	if (sources[run_source(run)].reloads) {
		source_begin(&run->own, TASK_OP_LOAD);
		return;
	}
	txn = txn_new(run->engine);
	activity_end(&run->own.activity);
	run_loaded(txn, run, NULL, false);
	txn_commit(txn);
}

void run_loaded(struct txn *txn, struct run *run, const struct task_list *list, bool has_bd)
{
	const struct slot_row **slots;
	struct loop loop;
	bool begins;

	/* paused or cancelled: ask again when the run continues */
	if (run->rows->run.state != RUN_S_RUNNING || run_cancelling(run)) {
		text_set(&run->iteration_tree, NULL);
		run->asked = SIZE_MAX;
		queue_give(&run->own);
		txn_effect_schedule(txn);
		txn_touch(txn, run);
		return;
	}
	run_waits_for(txn, run, NULL);
	if (list != NULL)
		offer_take(txn, run, list, has_bd);
	else
		offer_follow_claims(txn, run);
	loop = run_loop(run, &slots);
	begins = run_begins(&loop) && run_room(run) > 0;
	free(slots);
	if (begins) {
		run_event(txn, run, RUN_E_LOADED, NO_CAUSE);
		return;
	}
	/* without a task there is no iteration: it would cost something for nothing */
	text_set(&run->iteration_tree, NULL);
	txn_touch(txn, run);
}
