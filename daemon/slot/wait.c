/* SPDX-License-Identifier: MIT */
/* Waits because of a host fault or a task source: they are no result of the work. The row says what
 * the slot waits for, since when and until the next try; then the same work is retried, after ever
 * longer waits, until it succeeds or the run is cancelled. After an hour users are notified. */
#include "slot/wait.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/backoff.h"
#include "core/row.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/row_json.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "record/host_fault.h"
#include "slot/hooks.h"
#include "slot/turn.h"
#include "txn/emit.h"
#include "txn/txn.h"

#define TELL_AFTER_MS (INT64_C(60) * 60 * 1000)

/* The longest time between two tries. */
static const int64_t longest[WAITS] = { [WAIT_HOST] = 30 * 1000, [WAIT_SOURCE] = 5 * 60 * 1000 };

/* Fields of a wait in the row of the slot or the run. */
struct wait_fields {
	int kind;
	int64_t since, until;
	const char *reason;
};

static struct wait_fields fields_of(const struct slot *slot)
{
	const struct run_row *run = &slot->run->rows->run;
	const struct slot_row *row = slot->row;

	if (row != NULL)
		return (struct wait_fields){ row->wait, row->wait_since, row->wait_until, row->wait_reason };
	return (struct wait_fields){ run->wait, run->wait_since, run->wait_until, run->wait_reason };
}

static void set_fields(struct txn *txn, struct slot *slot, const struct wait_fields *f)
{
	if (slot->row != NULL) {
		struct slot_row *row = txn_edit_slot(txn, slot);

		row->wait = f->kind;
		row->wait_since = f->since;
		row->wait_until = f->until;
		text_set(&row->wait_reason, f->reason);
	} else {
		struct run_row *run = txn_edit_run(txn, slot->run);

		run->wait = f->kind;
		run->wait_since = f->since;
		run->wait_until = f->until;
		text_set(&run->wait_reason, f->reason);
	}
}

static void tell(struct txn *txn, struct slot *slot, const char *what, int error, const char *reason)
{
	const struct wait_fields f = fields_of(slot);
	json_t *body = json_pack("{s:s, s:s*, s:s*}", "what", what, "error",
	    error != 0 ? host_fault_name(error) : NULL, "reason", reason);

	if (slot->row != NULL)
		json_object_set_new(body, "slot", json_integer(slot->row->slot));
	if (f.since != ROW_NONE)
		json_object_set_new(body, "since", json_time(f.since));
	if (f.until != ROW_NONE)
		json_object_set_new(body, "next_at", json_time(f.until));
	txn_emit(txn, "host", slot->run->rows->run.id, body);
}

/* Run the hook on_hold once, in the first decision about a retry an hour after the beginning. */
static void emit_wait(struct txn *txn, struct slot *slot, int64_t now, int64_t last)
{
	const struct wait_fields f = fields_of(slot);
	int64_t due = f.since + TELL_AFTER_MS;

	if (now >= due && last < due)
		hook_add_wait(txn, slot->run, slot->row != NULL ? slot->row->task : NULL,
		    state_name(&wait_kind_names, f.kind), f.reason);
}

/* "host: …; make room on the disk" */
static char *reason_of(enum wait_kind kind, int error, const char *why)
{
	char *safe = text_escape(why, strlen(why), false), *text;

	if (kind == WAIT_HOST)
		text = xasprintf("host: %s; %s", safe, host_fault_remedy(error));
	else
		text = xasprintf("source: %s", safe);
	free(safe);
	return text;
}

void slot_waits(struct txn *txn, struct slot *slot, enum wait_kind kind, int error, const char *why)
{
	struct wait_fields f = fields_of(slot);
	const struct run_row *run = &slot->run->rows->run;
	int64_t now = engine_now(slot->run->engine), last = f.until != ROW_NONE ? f.until : now;
	bool begins = f.since == ROW_NONE;
	char *reason = reason_of(kind, error, why), *seed;

	/* do not wait longer because the clock was set back */
	if (begins || f.since > now)
		f.since = now;
	seed = xasprintf("%lld-%lld-%lld", (long long)run->id,
	    slot->row != NULL ? (long long)slot->row->slot : -1, (long long)now);
	f.kind = (int)kind;
	f.until = now + backoff_again_ms(now - f.since, longest[kind], seed);
	free(seed);
	f.reason = reason;
	set_fields(txn, slot, &f);
	if (begins) {
		log_about(LOG_LEVEL_WARN, run->id, 0, "run %lld: %s; retrying until it passes", (long long)run->id,
		    reason);
		if (kind == WAIT_HOST)
			tell(txn, slot, "waits", error, reason);
		if (slot->row != NULL)
			slot_emit_phase(txn, slot);
		else
			run_emit_state(txn, slot->run);
	}
	emit_wait(txn, slot, now, last);
	free(reason);
}

void slot_wait_over(struct txn *txn, struct slot *slot)
{
	static const struct wait_fields none = { WAIT_NOTHING, ROW_NONE, ROW_NONE, NULL };
	const struct wait_fields f = fields_of(slot);
	bool host = f.kind != WAIT_SOURCE;

	if (f.since == ROW_NONE)
		return;
	set_fields(txn, slot, &none);
	if (host)
		tell(txn, slot, "over", 0, NULL);
}

int64_t slot_waited_ms(struct slot *slot)
{
	const struct wait_fields f = fields_of(slot);

	return f.since != ROW_NONE ? engine_now(slot->run->engine) - f.since : 0;
}

/* ---- what begins again ---- */

static void go_on(struct slot *slot)
{
	slot->activity.wake_at = ROW_NONE;
	activity_end(&slot->activity);
	if (slot->row == NULL)
		effect_now(slot, slot->op.of_source || run_is_prepared(slot->run) ? EFFECT_LOAD :
		    EFFECT_PREPARE, ROW_NONE);
	else
		effect_now(slot, EFFECT_STAGE, ROW_NONE);
}

/* By key: run and slot may be gone, or wait for something else. */
static void wake_cb(void *arg, const struct wake *wake)
{
	struct engine *engine = arg;
	struct run *run = run_find(engine, wake->run);
	struct slot *slot = run != NULL ? run_slot(run, wake->iteration, wake->slot) : NULL;

	/* a draining daemon starts nothing: the next one does */
	if (!engine->stopped && !engine->draining && slot != NULL &&
	    slot->activity.kind == ACTIVITY_RETRY && slot->activity.wake_at == wake->until)
		go_on(slot);
}

void slot_wait(struct txn *txn, struct slot *slot, enum wait_kind kind, int error, const char *why)
{
	const struct slot_row *row = slot->row;
	struct wake wake;

	slot_waits(txn, slot, kind, error, why);
	turn_over(txn, slot);
	operation_free(&slot->op);
	activity_wait(&slot->activity, ACTIVITY_RETRY);
	slot->activity.wake_at = fields_of(slot).until;
	wake = (struct wake){ .at = slot->activity.wake_at, .until = slot->activity.wake_at,
	    .run = slot->run->rows->run.id };
	wake.iteration = row != NULL ? row->iteration : ROW_NONE;
	wake.slot = row != NULL ? row->slot : ROW_NONE;
	engine_wake(slot->run->engine, wake, wake_cb);
}

void slot_wait_ends(struct slot *slot)
{
	if (slot->activity.kind == ACTIVITY_RETRY && slot->row != NULL && slot->row->leaving != LEAVING_NOTHING)
		go_on(slot);
}
