/* SPDX-License-Identifier: MIT */
#include "sched/check_permits.h"

#include <stdlib.h>

#include "core/cause.h"
#include "core/row.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "sched/groups.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* Why there is none, malloc'd; NULL: there is one. */
static char *reason_of(const struct engine *engine, enum wait_kind *kind)
{
	int64_t slots = groups_check_slots(engine);

	*kind = WAIT_GROUP_PAUSED;
	if (group_is_paused(engine, CHECKS_GROUP))
		return xstrdup("group " CHECKS_GROUP " is paused");
	*kind = WAIT_GROUP;
	if (groups_check_used(engine) < slots)
		return NULL;
	return slots == 1 ? xstrdup("group " CHECKS_GROUP ": its only slot is in use") :
	    xasprintf("group " CHECKS_GROUP ": all %lld slots are in use", (long long)slots);
}

bool check_permit_take(struct slot *slot)
{
	struct engine *engine = slot->run->engine;
	struct reason reason = NO_REASON;
	char *text = NULL;
	struct txn *txn;

	if (!slot->has_check_permit)
		text = reason_of(engine, &reason.kind);
	reason.text = text;
	if (text == NULL)
		reason.kind = WAIT_NOTHING;
	if (text != NULL ? !slot_has_reason(slot->row, reason) :
	    slot->row->wait_kind == WAIT_GROUP || slot->row->wait_kind == WAIT_GROUP_PAUSED) {
		txn = txn_new(engine);
		slot_set_reason(txn_edit_slot(txn, slot), reason);
		slot_emit_phase(txn, slot);
		txn_commit(txn);
	}
	slot->has_check_permit = text == NULL;
	if (text != NULL)
		activity_wait(&slot->activity, ACTIVITY_CHECKS);
	free(text);
	return slot->has_check_permit;
}

void check_permit_sit(struct slot *slot)
{
	slot->has_check_permit = true;
}

void check_permit_give(struct txn *txn, struct slot *slot)
{
	if (!slot->has_check_permit)
		return;
	slot->has_check_permit = false;
	txn_effect_cooling(txn);
}
