/* SPDX-License-Identifier: MIT */
#include "rpc/run_reason.h"

#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/slot.h"
#include "model/row_json.h"
#include "proto/kinds.h"
#include "rpc/context.h"

struct run_rows run_reason_now(struct rpc *rpc, const struct run_rows *rows, struct run_row **copy)
{
	struct run_rows now = *rows;
	enum wait_kind kind;
	char *text;

	*copy = NULL;
	if (!engine_reason(rpc->options.engine, rows->run.id, &kind, &text))
		return now;
	*copy = row_copy(ROW_RUN, &rows->run);
	run_set_reason(*copy, REASON(kind, text));
	free(text);
	now.run = **copy;
	return now;
}

/* Time of its next try; ROW_NONE: unknown. */
static int64_t next_of(struct rpc *rpc, const struct slot_row *slot)
{
	const struct cooldown_row *cooldown;

	if (slot->wait != WAIT_NOTHING)
		return slot->wait_until;
	cooldown = slot->cooling != NULL ? account_cooldown(rpc->options.engine, slot->cooling) : NULL;

	return cooldown != NULL ? cooldown->until : slot->retry_at;
}

/* Add to "slots" of a document, if it has them. */
static void add_slot(json_t *run, const struct slot_row *slot, int64_t next)
{
	json_t *json;
	size_t i;

	json_array_foreach(json_object_get(run, "slots"), i, json) {
		if (json_integer_value(json_object_get(json, "slot")) == slot_row_work(slot) && next != ROW_NONE)
			json_object_set_new(json, "next_at", json_time(next));
	}
}

void run_reason_add(struct rpc *rpc, const struct run_rows *rows, json_t *run)
{
	const struct slot_row *first = NULL;
	bool all = rows != NULL && rows->run.state == RUN_S_RUNNING &&
	    rows->run.wait_kind == WAIT_NOTHING && rows->run.wait == WAIT_NOTHING;
	int64_t first_at = INT64_MAX, next;

	for (size_t i = 0; rows != NULL && i < rows->nslots; i++) {
		const struct slot_row *slot = rows->slots[i];

		/* an ended slot may still be in teardown */
		if (slot->iteration != rows->run.iteration ||
		    (slot_stage_is_end((enum slot_stage)slot->stage) && slot->wait == WAIT_NOTHING))
			continue;
		/* its voters tell */
		if (slot->stage == SLOT_S_PANEL && slot->wait == WAIT_NOTHING)
			continue;
		if (slot_row_phase(slot) != PHASE_COOLING && slot->wait == WAIT_NOTHING) {
			all &= slot->slot == SLOT_BASELINE;
			continue;
		}
		next = next_of(rpc, slot);
		add_slot(run, slot, next);
		if (slot->slot == SLOT_BASELINE)
			continue;
		if (first == NULL || (next != ROW_NONE && next < first_at)) {
			first = slot;
			first_at = next != ROW_NONE ? next : INT64_MAX;
		}
	}
	if (!all || first == NULL)
		return;
	json_object_set_new(run, "reason", json_text(first->wait != WAIT_NOTHING ? first->wait_reason : first->reason));
	json_object_set_new(run, "wait_kind", json_text(state_name(&wait_kind_names,
	    first->wait != WAIT_NOTHING ? first->wait : first->wait_kind)));
	json_object_set_new(run, "next_at", first_at == INT64_MAX ? json_null() : json_time(first_at));
}
