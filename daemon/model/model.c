/* SPDX-License-Identifier: MIT */
#include "model/model.h"

#include "model/runs.h"

int64_t engine_now(struct engine *engine)
{
	return engine->ports.now(engine->ports.clock_ctx);
}

static void work_prepare(struct engine *engine, struct work *work, const struct work_type *type)
{
	work->type = type;
	work->state_dir = engine->state_dir;
	work->config_dir = engine->config_dir;
	work->socket = engine->socket;
}

void engine_work(struct engine *engine, struct work *work, const struct work_type *type, void (*done)(void *arg, struct work *work), void *arg)
{
	work_prepare(engine, work, type);
	engine->ports.work(engine->ports.files_ctx, work, done, arg);
}

void engine_work_later(struct engine *engine, int64_t ms, struct work *work, const struct work_type *type,
    void (*done)(void *arg, struct work *work), void *arg)
{
	work_prepare(engine, work, type);
	engine->ports.work_later(engine->ports.files_ctx, ms, work, done, arg);
}

void engine_wake(struct engine *engine, struct wake wake, wake_due_cb *due)
{
	engine->ports.wake(engine->ports.timer_ctx, &wake, due, engine);
}

struct slot *engine_slot_of(struct engine *engine, int64_t id)
{
	struct run *run;

	LIST_FOREACH(run, &engine->runs, entry) {
		if (activity_has_process(&run->own.activity) && run->own.activity.id == id)
			return &run->own;
		for (size_t i = 0; i < run->nslots; i++)
			if (activity_has_process(&run->slots[i]->activity) && run->slots[i]->activity.id == id)
				return run->slots[i];
	}
	return NULL;
}
