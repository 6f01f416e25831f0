/* SPDX-License-Identifier: MIT */
#include "model/model.h"

#include "model/runs.h"

int64_t engine_now(struct engine *engine)
{
	return engine->ports.now(engine->ports.clock_ctx);
}

bool engine_is_pruned(const struct engine *engine, int64_t run)
{
	for (size_t i = 0; i < engine->npruned; i++)
		if (engine->pruned[i] == run)
			return true;
	return false;
}

static void job_prepare(struct engine *engine, struct job *job, const struct job_type *type)
{
	job->type = type;
	job->state_dir = engine->state_dir;
	job->shim = engine->shim;
	job->config_dir = engine->config_dir;
	job->socket = engine->socket;
}

void engine_job(struct engine *engine, struct job *job, const struct job_type *type,
    void (*done)(void *arg, struct job *job), void *arg)
{
	job_prepare(engine, job, type);
	engine->ports.job(engine->ports.files_ctx, job, done, arg);
}

void engine_job_later(struct engine *engine, int64_t ms, struct job *job, const struct job_type *type,
    void (*done)(void *arg, struct job *job), void *arg)
{
	job_prepare(engine, job, type);
	engine->ports.job_later(engine->ports.files_ctx, ms, job, done, arg);
}

void engine_wake(struct engine *engine, struct wake wake, wake_due_cb *due)
{
	engine->ports.wake(engine->ports.timer_ctx, &wake, due, engine);
}

struct slot *engine_slot_of(struct engine *engine, int64_t id)
{
	struct run *run;

	LIST_FOREACH(run, &engine->begun, begun) {
		if (activity_has_process(&run->own.activity) && run->own.activity.id == id)
			return &run->own;
		for (size_t i = 0; i < run->nslots; i++)
			if (activity_has_process(&run->slots[i]->activity) && run->slots[i]->activity.id == id)
				return run->slots[i];
	}
	return NULL;
}
