/* SPDX-License-Identifier: MIT */
#include "model/slot_key.h"

#include <stddef.h>

#include "core/row.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"

struct slot_key slot_key(const struct slot *slot)
{
	return (struct slot_key){
		.run = slot->run->rows->run.id,
		.iteration = slot->row != NULL ? slot->row->iteration : ROW_NONE,
		.slot = slot->row != NULL ? slot->row->slot : ROW_NONE,
	};
}

struct slot *slot_at_job(struct engine *engine, struct slot_key key)
{
	struct run *run = engine->stopped ? NULL : run_find(engine, key.run);
	struct slot *slot = run != NULL ? run_slot(run, key.iteration, key.slot) : NULL;

	return slot != NULL && slot->activity.kind == ACTIVITY_JOB ? slot : NULL;
}
