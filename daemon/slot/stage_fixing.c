/* SPDX-License-Identifier: MIT */
/* FIXING: an agent fixes what a review, a check, git or a human objects to. */
#include "core/plan.h"
#include "core/row.h"
#include "core/state.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/attempt.h"
#include "slot/attempt_result.h"
#include "slot/attempt_start.h"
#include "slot/merge_state.h"
#include "slot/review_rows.h"
#include "slot/stages.h"
#include "txn/txn.h"

/* Subject of the attempt: a new fix round, or with fixer = "per-finding" the next finding. */
static void set_subject(struct txn *txn, const struct slot *slot, enum slot_stage from)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct finding_row *item;

	if (from != SLOT_S_FIXING) {
		row->fix++;
		row->item = 0;
		text_set(&row->commit_id, NULL);
		/* the human's message has been dealt with: this is newer; but not a word about work
		 * that is continued */
		if (from != SLOT_S_MEASURING || row->obstacle != NULL)
			text_set(&row->message, NULL);
	}
	if (slot_plan(slot)->fixer != FIXER_PER_FINDING || row->failed_check != ROW_NONE || row->obstacle != NULL)
		return;
	item = review_item(slot, row->item);
	row->item = item != NULL ? item->number : 0;
}

/* After rework or a retry the subject is already in the row: see hold_go_on(). */
static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	merge_send_back(txn, slot);
	if (why->reason != MOVE_RETRY && from != SLOT_S_HELD)
		set_subject(txn, slot, from);
	attempt_begin(txn, slot, ROLE_FIX);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct attempt_end *end = done->attempt;

	attempt_take_answer(txn, slot, end);
	if (end->reason == MOVE_RELEASED)
		attempt_gives_back(txn, slot, end);
	attempt_move(txn, slot, end);
}

const struct stage stage_fixing = {
	.enter = enter,
	.result = result,
	.recover = attempt_build,
};
