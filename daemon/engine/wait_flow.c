/* SPDX-License-Identifier: MIT */
/* What a fault of the host, or of a task source, holds up: it is no result of the work. The row says what it waits for, since when and until the
 * next try; then the same begins again, after ever longer waits, until it passes or the run is cancelled. After an hour people are told. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/backoff.h"
#include "engine/engine_int.h"
#include "engine/json.h"
#include "proto/escape.h"
#include "record/host_fault.h"

#define TELL_AFTER_MS (INT64_C(60) * 60 * 1000)

/* The longest time between two tries. */
static const int64_t longest[WAITS] = { [WAIT_HOST] = 30 * 1000, [WAIT_SOURCE] = 5 * 60 * 1000 };

/* What the row of the slot, or of the run, says of a wait. */
struct wait_fields {
	int *kind;
	int64_t *since, *until;
	char **reason;
};

static struct wait_fields fields_of(struct lane *lane)
{
	struct run_row *run = &lane->run->rows->run;
	struct slot_row *slot = lane->row;

	if (slot != NULL)
		return (struct wait_fields){ &slot->wait, &slot->wait_since, &slot->wait_until, &slot->wait_reason };
	return (struct wait_fields){ &run->wait, &run->wait_since, &run->wait_until, &run->wait_reason };
}

static void put(struct turn *turn, struct lane *lane)
{
	if (lane->row != NULL)
		turn_put(turn, ROW_SLOT, lane->row);
	else
		turn_put(turn, ROW_RUN, &lane->run->rows->run);
}

static void tell(struct turn *turn, struct lane *lane, const char *what, int error, const char *reason)
{
	const struct wait_fields f = fields_of(lane);
	json_t *body = json_pack("{s:s, s:s*, s:s*}", "what", what, "error", error != 0 ? host_fault_name(error) : NULL, "reason", reason);

	if (lane->row != NULL)
		json_object_set_new(body, "slot", json_integer(lane->row->slot));
	if (*f.since != ROW_NONE)
		json_object_set_new(body, "since", json_time(*f.since));
	if (*f.until != ROW_NONE)
		json_object_set_new(body, "next_at", json_time(*f.until));
	turn_tell(turn, "host", lane->run->rows->run.id, body);
}

/* The hook on_hold, once: in the first decision about a try that comes an hour after the beginning. */
static void tell_people(struct turn *turn, struct lane *lane, int64_t now, int64_t last)
{
	const struct wait_fields f = fields_of(lane);
	int64_t due = *f.since + TELL_AFTER_MS;

	if (now >= due && last < due)
		hook_add_wait(turn, lane->run, lane->row != NULL ? lane->row->task : NULL, state_name(&wait_kind_names, *f.kind), *f.reason);
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

void lane_waits(struct turn *turn, struct lane *lane, enum wait_kind kind, int error, const char *why)
{
	const struct wait_fields f = fields_of(lane);
	const struct run_row *run = &lane->run->rows->run;
	int64_t now = engine_now(lane->run->engine), last = *f.until != ROW_NONE ? *f.until : now;
	bool begins = *f.since == ROW_NONE;
	char *reason = reason_of(kind, error, why), *seed;

	/* a clock that was set back is no reason to wait longer */
	if (begins || *f.since > now)
		*f.since = now;
	seed = xasprintf("%lld-%lld-%lld", (long long)run->id, lane->row != NULL ? (long long)lane->row->slot : -1, (long long)now);
	*f.kind = (int)kind;
	*f.until = now + backoff_again_ms(now - *f.since, longest[kind], seed);
	free(seed);
	text_set(f.reason, reason);
	put(turn, lane);
	if (begins) {
		log_warn("run %lld: %s; trying again until it passes", (long long)run->id, reason);
		if (kind == WAIT_HOST)
			tell(turn, lane, "waits", error, reason);
		if (lane->row != NULL)
			lane_tell_phase(turn, lane);
		else
			run_tell_state(turn, lane->run);
	}
	tell_people(turn, lane, now, last);
	free(reason);
}

void lane_wait_over(struct turn *turn, struct lane *lane)
{
	const struct wait_fields f = fields_of(lane);
	bool host = *f.kind != WAIT_SOURCE;

	if (*f.since == ROW_NONE)
		return;
	text_set(f.reason, NULL);
	*f.kind = WAIT_NOTHING;
	*f.since = *f.until = ROW_NONE;
	put(turn, lane);
	if (host)
		tell(turn, lane, "over", 0, NULL);
}

int64_t lane_waited_ms(struct lane *lane)
{
	const struct wait_fields f = fields_of(lane);

	return *f.since != ROW_NONE ? engine_now(lane->run->engine) - *f.since : 0;
}

/* ---- what begins again ---- */

static void go_on(struct lane *lane)
{
	lane->wake_at = ROW_NONE;
	lane->pending = PENDING_NOTHING;
	if (lane->row == NULL && (lane->asks_source || run_is_prepared(lane->run)))
		run_load(lane->run);
	else if (lane->row == NULL)
		run_prepare(lane->run);
	else if (lane->row->leaving != LEAVING_NOTHING)
		leave_act(lane);
	else if (lane->asks_source)
		source_begin(lane, lane->task_kind);
	else
		git_begin(lane, lane->git_kind);
}

/* By key: run and lane may be gone since then, or wait for something else. */
static void wake_cb(void *arg, struct work *work)
{
	struct engine *engine = arg;
	const struct cool_work *w = (const struct cool_work *)work;
	struct run *run = run_find(engine, w->run);
	struct lane *lane = run != NULL ? run_lane(run, w->iteration, w->slot) : NULL;

	/* a daemon that drains begins nothing: the next one does */
	if (!engine->stopped && !engine->draining && lane != NULL && lane->pending == PENDING_WAIT && lane->wake_at == w->until)
		go_on(lane);
	work_free(work);
}

void lane_wait(struct turn *turn, struct lane *lane, enum wait_kind kind, int error, const char *why)
{
	struct engine *engine = lane->run->engine;
	struct cool_work *w = xcalloc(1, sizeof(*w));
	int64_t now = engine_now(engine);

	lane_waits(turn, lane, kind, error, why);
	git_turn_over(turn, lane);
	operation_free(&lane->op);
	lane->pending = PENDING_WAIT;
	lane->id = ROW_NONE;
	lane->wake_at = *fields_of(lane).until;
	w->run = lane->run->rows->run.id;
	w->iteration = lane->row != NULL ? lane->row->iteration : ROW_NONE;
	w->slot = lane->row != NULL ? lane->row->slot : ROW_NONE;
	w->until = lane->wake_at;
	engine_work_later(engine, lane->wake_at - now, &w->work, WORK_COOL, wake_cb, engine);
}

void lane_wait_ends(struct lane *lane)
{
	if (lane->pending == PENDING_WAIT && lane->row != NULL && lane->row->leaving != LEAVING_NOTHING)
		go_on(lane);
}
