/* SPDX-License-Identifier: MIT */
/* The only table that includes all rooms: transactions carry effects as data and know none of the
 * rooms. */
#include "engine/effects.h"

#include <stdlib.h>

#include "engine/start.h"
#include "git/git_op.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "run/lifecycle.h"
#include "run/preparation.h"
#include "run/publication.h"
#include "run/task_load.h"
#include "sched/permits.h"
#include "slot/account_wait.h"
#include "slot/attempt_start.h"
#include "slot/git_request.h"
#include "slot/hooks.h"
#include "slot/machine.h"
#include "slot/operation.h"
#include "txn/txn.h"

static void prepare(struct slot *slot, int64_t id)
{
	(void)id;
	run_prepare(slot->run);
}

static void build(struct slot *slot, int64_t id)
{
	(void)id;
	attempt_build(slot);
}

static void launch_attempt(struct slot *slot, int64_t id)
{
	(void)id;
	attempt_launch(slot);
}

static void begin_git(struct slot *slot, int64_t id)
{
	git_begin(slot, (enum git_op_kind)id);
}

static void take_up(struct slot *slot, int64_t id)
{
	(void)id;
	slot_recover(slot);
}

static void load(struct slot *slot, int64_t id)
{
	(void)id;
	run_load(slot->run);
}

static void want_permit(struct slot *slot, int64_t id)
{
	(void)id;
	queue_want(slot);
}

static void launch_step(struct slot *slot, int64_t id)
{
	(void)id;
	step_launch(slot);
}

static void write_log(struct slot *slot, int64_t id)
{
	(void)id;
	review_write_log(slot->run, slot);
}

static void write_report(struct slot *slot, int64_t id)
{
	(void)id;
	run_write_report(slot->run);
}

/* The process may have ended already. */
static void end_process(struct slot *slot, int64_t id)
{
	struct engine *engine = slot->run->engine;

	if (activity_has_process(&slot->activity) && slot->activity.id == id)
		engine->ports.end(engine->ports.proc_ctx, id);
}

static void cleanup(struct slot *slot, int64_t id)
{
	(void)id;
	run_cleanup(slot->run);
}

static void look_at_waits(struct engine *engine, int64_t id)
{
	(void)id;
	cooling_look(engine);
}

static void schedule(struct engine *engine, int64_t id)
{
	(void)id;
	if (!engine->stopped)
		engine_schedule(engine);
}

/* One of the two: for a slot (the run's own, for effects on the run), or for the engine. */
static const struct effect_type {
	void (*of_slot)(struct slot *slot, int64_t id);
	void (*of_engine)(struct engine *engine, int64_t id);
	bool waits;	/* continues work: wait until everything left running was found */
} effect_types[EFFECTS] = {
	[EFFECT_PREPARE] = { .of_slot = prepare, .waits = true },
	[EFFECT_BUILD] = { .of_slot = build, .waits = true },
	[EFFECT_LAUNCH] = { .of_slot = launch_attempt, .waits = true },
	[EFFECT_STAGE] = { .of_slot = take_up, .waits = true },
	[EFFECT_GIT] = { .of_slot = begin_git, .waits = true },
	[EFFECT_LOAD] = { .of_slot = load, .waits = true },
	[EFFECT_PERMIT] = { .of_slot = want_permit },
	[EFFECT_STEP] = { .of_slot = launch_step, .waits = true },
	[EFFECT_END] = { .of_slot = end_process },
	[EFFECT_HOOK] = { .of_engine = hook_start },
	[EFFECT_LOG] = { .of_slot = write_log },
	[EFFECT_REPORT] = { .of_slot = write_report },
	[EFFECT_CLEANUP] = { .of_slot = cleanup },
	[EFFECT_COOLING] = { .of_engine = look_at_waits },
	[EFFECT_SCHEDULE] = { .of_engine = schedule },
};

static void effect_do(struct engine *engine, const struct effect *effect)
{
	const struct effect_type *type = &effect_types[effect->kind];
	struct run *run = run_find(engine, effect->run);
	struct slot *slot = run != NULL ? run_slot(run, effect->iteration, effect->slot) : NULL;

	if (type->of_engine != NULL)
		type->of_engine(engine, effect->id);
	else if (slot != NULL)
		type->of_slot(slot, effect->id);
}

static void effect_apply(struct engine *engine, const struct effect *effect)
{
	if (!engine->recovering || !effect_types[effect->kind].waits) {
		effect_do(engine, effect);
		return;
	}
	engine->deferred = xreallocarray(engine->deferred, engine->ndeferred + 1, sizeof(*engine->deferred));
	engine->deferred[engine->ndeferred++] = *effect;
}

const struct txn_calls effects_calls = {
	.effect = effect_apply,
	.reconcile = run_reconcile,
};

void effects_resume(struct engine *engine)
{
	for (size_t i = 0; i < engine->ndeferred; i++)
		effect_do(engine, &engine->deferred[i]);
	free(engine->deferred);
	engine->deferred = NULL;
	engine->ndeferred = 0;
}
