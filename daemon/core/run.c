/* SPDX-License-Identifier: MIT */
#include "core/run.h"

#include <stdbool.h>

#include "core/slot.h"

#define IN(state) (1u << RUN_S_##state)

const struct run_edge run_edges[] = {
	/* in         event             action         next */
	{ IN(QUEUED),  RUN_E_START,     RUN_A_PREPARE, RUN_S_RUNNING },
	{ IN(QUEUED),  RUN_E_CANCEL,    RUN_A_FINISH,  RUN_S_CANCELLED },
	{ IN(RUNNING), RUN_E_PREPARED,  RUN_A_BEGIN,   RUN_S_RUNNING },
	{ IN(QUEUED),  RUN_E_CANCEL_BEGUN, RUN_A_END,  RUN_S_QUEUED },
	{ IN(QUEUED),  RUN_E_RESUME,    RUN_A_RESUME,  RUN_S_RUNNING },
	{ IN(RUNNING) | IN(HELD), RUN_E_PASSED, RUN_A_FINISH, RUN_S_SUCCEEDED },
	{ IN(RUNNING) | IN(HELD), RUN_E_FAILED, RUN_A_FINISH, RUN_S_FAILED },
	{ IN(RUNNING), RUN_E_REVIEW,    RUN_A_REVIEW,  RUN_S_RUNNING },
	{ IN(RUNNING), RUN_E_HELD,      RUN_A_HOLD,    RUN_S_HELD },
	{ IN(HELD),    RUN_E_REWORK,    RUN_A_REWORK,  RUN_S_QUEUED },
	{ IN(HELD),    RUN_E_BACK,      RUN_A_NONE,    RUN_S_RUNNING },
	{ IN(RUNNING), RUN_E_CANCEL,    RUN_A_END,     RUN_S_RUNNING },
	{ IN(HELD),    RUN_E_CANCEL,    RUN_A_END,     RUN_S_HELD },
	{ IN(QUEUED) | IN(RUNNING) | IN(HELD), RUN_E_CANCELLED, RUN_A_FINISH, RUN_S_CANCELLED },
};
const size_t run_edges_count = sizeof(run_edges) / sizeof(run_edges[0]);

static const char *const event_names[RUN_EVENTS] = {
	[RUN_E_START] = "start",
	[RUN_E_PREPARED] = "prepared",
	[RUN_E_PASSED] = "passed",
	[RUN_E_FAILED] = "failed",
	[RUN_E_HELD] = "held",
	[RUN_E_REVIEW] = "review",
	[RUN_E_REWORK] = "rework",
	[RUN_E_RESUME] = "resume",
	[RUN_E_BACK] = "back",
	[RUN_E_CANCEL] = "cancel",
	[RUN_E_CANCEL_BEGUN] = "cancel-begun",
	[RUN_E_CANCELLED] = "cancelled",
};

const struct run_edge *run_step(enum run_state state, enum run_event event)
{
	for (size_t i = 0; i < run_edges_count; i++)
		if ((run_edges[i].when & 1u << state) != 0 && run_edges[i].event == event)
			return &run_edges[i];
	return NULL;
}

const char *run_event_name(enum run_event event)
{
	return event_names[event];
}

enum run_event run_settle(struct slot_row *const *slots, size_t count)
{
	static const struct {
		enum slot_stage stage;
		enum run_event event;
	} order[] = {
		{ SLOT_S_CANCELLED, RUN_E_CANCELLED },
		{ SLOT_S_FAILED, RUN_E_FAILED },
		{ SLOT_S_HELD, RUN_E_HELD },
		{ SLOT_S_IMPLEMENTED, RUN_E_REVIEW },
	};

	for (size_t i = 0; i < count; i++)
		if (!slot_stage_is_end((enum slot_stage)slots[i]->stage) && slots[i]->stage != SLOT_S_HELD && slots[i]->stage != SLOT_S_IMPLEMENTED)
			return RUN_EVENTS;
	for (size_t o = 0; o < sizeof(order) / sizeof(order[0]); o++)
		for (size_t i = 0; i < count; i++)
			if (slots[i]->stage == (int)order[o].stage)
				return order[o].event;
	return RUN_E_PASSED;
}
