/* SPDX-License-Identifier: MIT */
/* Permits: which slot gets the next one, which gives one back, and why the others wait.
 * core/schedule.h decides. Between its slots a run keeps one permit, so that it continues without
 * queueing again. */
#include "sched/permits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/cause.h"
#include "core/row.h"
#include "core/schedule.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "txn/emit.h"
#include "txn/txn.h"

#define REASONS_MAX 128

/* The run that must end first, ROW_NONE: none. A retry does not start before the original run has
 * released its tasks. */
static int64_t comes_after(const struct run *run)
{
	const struct run_row *row = &run->rows->run;

	if (row->after_run != ROW_NONE && run_find(run->engine, row->after_run) != NULL)
		return row->after_run;
	return row->retry_of != ROW_NONE && run_find(run->engine, row->retry_of) != NULL ? row->retry_of : ROW_NONE;
}

/* Its oldest open hold, 0: none. */
static int64_t open_hold(const struct run *run)
{
	for (size_t i = 0; i < run->rows->nholds; i++)
		if (run->rows->holds[i]->state == HOLD_S_OPEN)
			return run->rows->holds[i]->id;
	return 0;
}

/* What a human has to do before it continues: the id of a hold to decide, PAUSED, or 0. */
#define PAUSED (-1)

static int64_t note_of(const struct run *run)
{
	const struct run_row *row = &run->rows->run;

	if (run_cancelling(run))
		return 0;
	if (row->state == RUN_S_HELD)
		return open_hold(run);
	return row->state == RUN_S_PAUSED || row->paused == 1 ? PAUSED : 0;
}

void queue_add(struct run *run)
{
	const struct run_row *row = &run->rows->run;
	struct schedule_run entry = {
		.id = row->id,
		.owner = row->owner,
		.priority = row->priority,
		.after = comes_after(run),
		.group = row->group,
		/* work trees are not shared */
		.workspace = run->plan.isolation == ISOLATION_WORKTREE ? NULL : row->workspace,
	};

	schedule_add(run->engine->schedule, &entry);
	if (row->state != RUN_S_QUEUED || row->started_at != ROW_NONE)
		schedule_occupy(run->engine->schedule, row->id);
	schedule_note(run->engine->schedule, row->id, note_of(run));
	queue_update(run);
}

static bool wants(const struct slot *slot)
{
	return slot->activity.kind == ACTIVITY_PERMIT && !slot->has_permit;
}

/* How many permits the work of a run may still have. Tasks whose merge is judged work without one;
 * of those that are sent back, no more continue than its slots allow. Reviewers of a panel and the
 * baseline are beside them; the permit of the work is with one of its panel, or with the run. */
static int64_t permits_left(const struct run *run)
{
	int64_t held = 0, panels = 0;

	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot *slot = run->slots[i];

		held += slot->has_permit && !slot_is_beside(slot);
		panels += !slot->has_permit && slot->row->stage == SLOT_S_PANEL;
	}
	return run->plan.parallel - held - (panels > 0 ? panels : run->own.has_permit);
}

/* Of those that want a permit: whether it may have one, with left for the work. */
static bool may_have(const struct slot *slot, int64_t *left)
{
	return slot_is_beside(slot) || (*left)-- > 0;
}

void queue_update(struct run *run)
{
	const struct run_row *row = &run->rows->run;
	int64_t permits = 0, refused = 0, left = permits_left(run);

	if (row->state == RUN_S_QUEUED && row->paused != 1 && !run_cancelling(run))
		permits = 1;
	for (size_t i = 0; row->state == RUN_S_RUNNING && !run_cancelling(run) && i < run->nslots; i++)
		if (wants(run->slots[i]))
			++*(may_have(run->slots[i], &left) ? &permits : &refused);
	/* its slots have their reason, but not the run */
	if (row->state == RUN_S_QUEUED && row->wait_kind == WAIT_NOTHING)
		schedule_want(run->engine->schedule, row->id, 0);
	if (!run_state_is_end((enum run_state)row->state))
		schedule_want(run->engine->schedule, row->id, permits);
	if (refused > 0)
		schedule_tell(run->engine->schedule, row->id);
}

void queue_note(struct txn *txn, struct run *run)
{
	if (schedule_note(run->engine->schedule, run->rows->run.id, note_of(run)))
		txn_effect_schedule(txn);
}

void queue_want(struct slot *slot)
{
	struct slot *own = &slot->run->own;

	/* the permit that the run keeps between its slots would be missing */
	if (own->has_permit && own->activity.kind == ACTIVITY_NONE)
		queue_give(own);
	activity_wait(&slot->activity, ACTIVITY_PERMIT);
	queue_update(slot->run);
}

/* It only waits for that, and then ends. */
static bool only_deletes(const struct run *run)
{
	bool deletes = false;

	for (size_t i = 0; i < run->nslots; i++) {
		if (!slot_row_is_free(run->slots[i]->row))
			return false;
		deletes |= run->slots[i]->row->leaving == LEAVING_DELETE;
	}
	return deletes;
}

void queue_yield(struct txn *txn, struct run *run)
{
	bool wanted = run_cancelling(run) || only_deletes(run);

	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot *slot = run->slots[i];

		/* one that began while the run was at work itself has another permit */
		wanted |= wants(slot) || (slot->has_permit && !slot_is_beside(slot)) ||
		    slot->activity.kind == ACTIVITY_ACCOUNT || slot->activity.kind == ACTIVITY_BASELINE;
	}
	if (!wanted || !run->own.has_permit || run->own.activity.kind != ACTIVITY_NONE)
		return;
	queue_give(&run->own);
	txn_effect_schedule(txn);
}

void queue_sit(struct slot *slot)
{
	if (slot->has_permit)
		return;
	slot->has_permit = true;
	schedule_take(slot->run->engine->schedule, slot->run->rows->run.id);
}

void queue_give(struct slot *slot)
{
	if (!slot->has_permit)
		return;
	slot->has_permit = false;
	schedule_give(slot->run->engine->schedule, slot->run->rows->run.id);
	/* another one of the run may have it */
	queue_update(slot->run);
}

/* The run has another permit: returns the slot that gets it; NULL: none of them wants one any
 * more. */
static struct slot *give_permit(struct run *run)
{
	int64_t left = permits_left(run);

	schedule_take(run->engine->schedule, run->rows->run.id);
	for (size_t i = 0; i < run->nslots; i++)
		if (wants(run->slots[i]) && may_have(run->slots[i], &left)) {
			run->slots[i]->has_permit = true;
			return run->slots[i];
		}
	schedule_give(run->engine->schedule, run->rows->run.id);
	return NULL;
}

struct slot *permits_next(struct engine *engine)
{
	struct slot *slot = NULL;
	int64_t id;

	while (slot == NULL && !engine->draining && (id = schedule_next(engine->schedule)) != 0) {
		struct run *run = run_find(engine, id);

		if (run->rows->run.state == RUN_S_QUEUED) {
			/* a run that prepared while it was paused has one already */
			queue_give(&run->own);
			queue_sit(&run->own);
			slot = &run->own;
		} else {
			slot = give_permit(run);
			if (slot == NULL)
				queue_update(run);
		}
	}
	return slot;
}

/* Tell its slots that wait for a permit why. */
static void emit_slots(struct txn *txn, struct run *run, struct reason reason)
{
	bool full = permits_left(run) <= 0 && !run->engine->draining;

	for (size_t i = 0; i < run->nslots; i++) {
		struct slot *slot = run->slots[i];
		struct reason own = reason;

		if (!wants(slot))
			continue;
		if (full && !slot_is_beside(slot))
			own = REASON(WAIT_SLOTS, "all slots of the run are in use");
		if (!slot_has_reason(slot->row, own))
			slot_set_reason(txn_edit_slot(txn, slot), own);
	}
}

/* Why it waits. Where only a human can end that, with the command. malloc'd, or NULL. */
static char *queue_reason(struct run *run, enum wait_kind *kind)
{
	int64_t blocker;
	char *text = schedule_reason(run->engine->schedule, run->rows->run.id, kind, &blocker), *whole = NULL;
	const struct run *other = blocker != 0 ? run_find(run->engine, blocker) : NULL;
	int64_t note = other != NULL ? note_of(other) : 0;

	if (note == PAUSED)
		whole = xasprintf("%s; it is paused: \"rlctl resume %lld\"", text, (long long)blocker);
	else if (note != 0)
		whole = xasprintf("%s; it is held: \"rlctl hold show %lld\"", text, (long long)note);
	if (whole == NULL)
		return text;
	free(text);
	return whole;
}

/* malloc'd, or NULL. */
static char *reason_now(struct run *run, enum wait_kind *kind)
{
	const struct run_row *row = &run->rows->run;

	if (run->engine->draining) {
		*kind = WAIT_DRAINING;
		return xstrdup("the daemon is draining");
	}
	if (row->state == RUN_S_QUEUED && row->paused == 1) {
		*kind = WAIT_PAUSED;
		return xstrdup("paused");
	}
	return queue_reason(run, kind);
}

bool permits_reason(struct engine *engine, int64_t id, enum wait_kind *kind, char **text)
{
	struct run *run = run_find(engine, id);

	if (run == NULL || run->rows->run.state != RUN_S_QUEUED || run->rows->run.wait != WAIT_NOTHING ||
	    run_cancelling(run))
		return false;
	*text = reason_now(run, kind);
	return true;
}

static void emit_reason(struct txn *txn, struct run *run)
{
	const struct run_row *row = &run->rows->run;
	enum wait_kind kind;
	char *text = reason_now(run, &kind);
	struct reason reason = REASON(kind, text);

	if (row->state == RUN_S_RUNNING) {
		emit_slots(txn, run, reason);
	} else if (row->state == RUN_S_QUEUED && !run_cancelling(run) && !run_has_reason(row, reason)) {
		run_set_reason(txn_edit_run(txn, run), reason);
		run_emit_state(txn, run);
	}
	free(text);
}

void permits_tell(struct txn *txn, struct engine *engine)
{
	struct run *run;
	int64_t id, told;

	for (told = 0; told < REASONS_MAX && (id = schedule_changed(engine->schedule)) != 0; told++) {
		run = run_find(engine, id);
		if (run != NULL)
			emit_reason(txn, run);
	}
	/* continue when these are on disk: a thousand runs may wait for one workdir */
	if (told == REASONS_MAX)
		txn_effect_schedule(txn);
}
