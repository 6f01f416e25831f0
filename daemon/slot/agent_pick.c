/* SPDX-License-Identifier: MIT */
/* assign = "agent": an agent picks its task, which is read from its output. Each slot starts when
 * the slots before it have picked or ended, so that two agents do not choose at the same time. */
#include "slot/agent_pick.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "core/tasks.h"
#include "job/read_pick.h"
#include "model/activity.h"
#include "model/job.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "sched/claims.h"
#include "slot/attempt_result.h"
#include "slot/machine.h"
#include "txn/txn.h"

#define PICK_EVERY_MS 300

static bool has_picked(const struct slot *slot)
{
	return slot->row->task != NULL || slot_stage_is_end((enum slot_stage)slot->row->stage) ||
	    slot->row->stage == SLOT_S_HELD;
}

void pick_stage(struct txn *txn, struct run *run)
{
	size_t picked = 0;

	for (size_t i = 0; i < run->nslots; i++) {
		struct slot *slot = run->slots[i];

		if (slot->row->iteration != run->rows->run.iteration || slot->row->slot == 0 ||
		    slot_is_beside(slot))
			continue;
		if (slot->activity.kind == ACTIVITY_PICK && (int64_t)picked >= slot->row->slot - 1) {
			slot_set_reason(txn_edit_slot(txn, slot), NO_REASON);
			txn_effect(txn, EFFECT_PERMIT, run, slot, ROW_NONE);
		}
		picked += has_picked(slot);
	}
}

/* Ready tasks that no other run has claimed: a task never counts for two slots. */
static char **free_tasks(const struct run *run)
{
	enum task_wait *waits = task_waits(run->rows->tasks, run->rows->ntasks);
	char **ids = NULL;

	for (size_t i = 0; i < run->rows->ntasks; i++)
		if (waits[i] == TASK_W_NOTHING && !run_is_claimed_elsewhere(run, run->rows->tasks[i]->id))
			strings_append(&ids, run->rows->tasks[i]->id);
	free(waits);
	if (ids == NULL)
		ids = xcalloc(1, sizeof(*ids));
	return ids;
}

static struct pick_job *pick_job_new(const struct slot *slot, bool last)
{
	const struct exit_record *r = &slot->record;
	struct pick_job *w = xcalloc(1, sizeof(*w));

	w->run = slot->row->run;
	w->iteration = slot->row->iteration;
	w->slot = slot->row->slot;
	w->attempt = slot->row->attempt;
	w->ids = free_tasks(slot->run);
	w->last = last;
	w->unasked[0] = last && r->signalled_ms != 0 ? r->stdout_signalled : UINT64_MAX;
	w->unasked[1] = last && r->signalled_ms != 0 ? r->stderr_signalled : UINT64_MAX;
	return w;
}

/* Another slot may have taken it since the worker looked. */
static bool take(struct slot *slot, const char *id)
{
	struct run *run = slot->run;
	const struct task_row *task = run_rows_task(run->rows, id);
	struct txn *txn;

	if (task == NULL || task_wait(task, run->rows->tasks, run->rows->ntasks) != TASK_W_NOTHING ||
	    run_is_claimed_elsewhere(run, id))
		return false;
	txn = txn_new(run->engine);
	txn_set_task(txn, slot, id);
	text_set(&txn_edit_attempt(txn, run_attempt(run, slot->row->attempt))->task, id);
	txn_edit_task(txn, task)->state = TASK_S_CLAIMED;
	run_claim(txn, run, id, CLAIM_S_HELD);
	txn_emit(txn, "slot.picked", run->rows->run.id, json_pack("{s:I, s:s, s:s*}", "slot",
	    (json_int_t)slot->row->slot, "task", id, "title", task->title));
	pick_stage(txn, run);
	txn_commit(txn);
	return true;
}

static void pick_cb(void *arg, struct job *job);

static void look_again(struct engine *engine, struct pick_job *w)
{
	engine_job_later(engine, PICK_EVERY_MS, &w->job, &read_pick_type, pick_cb, engine);
}

/* By key: run and slot may be gone by now. */
static void pick_cb(void *arg, struct job *job)
{
	struct engine *engine = arg;
	struct pick_job *w = (struct pick_job *)job;
	struct run *run = run_find(engine, w->run);
	struct slot *slot = run != NULL ? run_slot(run, w->iteration, w->slot) : NULL;
	bool open = !engine->stopped && slot != NULL && slot->row->attempt == w->attempt &&
	    slot->row->task == NULL && slot->row->stage == SLOT_S_IMPLEMENTING &&
	    (w->last || slot->activity.kind == ACTIVITY_ATTEMPT);
	bool missed = open && w->picked != NULL && !take(slot, w->picked);

	if (engine->stopped || slot == NULL || slot->row->attempt != w->attempt) {
		job_free(job);
	} else if (missed) {
		/* search again from the beginning, without the one taken */
		bool last = w->last;

		job_free(job);
		w = pick_job_new(slot, last);
		engine_job(engine, &w->job, &read_pick_type, pick_cb, engine);
	} else if (w->last && job->fault != 0 && w->picked == NULL && !slot_ending(slot)) {
		look_again(engine, w);
	} else if (w->last) {
		job_free(job);
		attempt_collect(slot);
	} else if (slot->row->task == NULL && slot->activity.kind == ACTIVITY_ATTEMPT) {
		look_again(engine, w);
	} else {
		job_free(job);
	}
}

void pick_watch(struct slot *slot)
{
	look_again(slot->run->engine, pick_job_new(slot, false));
}

void pick_last(struct slot *slot)
{
	struct pick_job *w = pick_job_new(slot, true);

	engine_job(slot->run->engine, &w->job, &read_pick_type, pick_cb, slot->run->engine);
}
