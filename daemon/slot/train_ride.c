/* SPDX-License-Identifier: MIT */
#include "slot/train_ride.h"

#include "core/row.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/runs.h"
#include "model/slots.h"
#include "sched/check_permits.h"
#include "slot/machine.h"
#include "slot/round.h"
#include "slot/train_order.h"
#include "slot/turn.h"
#include "txn/txn.h"

static void wait_in_train(struct txn *txn, struct slot *slot)
{
	slot->departs = false;
	activity_wait(&slot->activity, ACTIVITY_TRAIN);
	train_pass(txn, slot->run);
	turn_pass(txn, slot);
}

bool train_join(struct txn *txn, struct slot *slot)
{
	if (!train_is_formed(slot))
		return false;
	wait_in_train(txn, slot);
	return true;
}

static void merge_anew(struct txn *txn, struct slot *slot)
{
	txn_edit_slot(txn, slot)->merge = MERGE_AGAIN;
	slot_move(txn, slot, slot_stage(slot), SLOT_S_MERGING, NULL);
}

/* What follows from the step that is its turn. */
static void act(struct txn *txn, struct slot *slot, enum train_step step)
{
	switch (step) {
	case TRAIN_WAIT:
		wait_in_train(txn, slot);
		break;
	case TRAIN_CHECK:
		slot->departs = true;
		break;
	case TRAIN_RED:
		txn_edit_slot(txn, slot)->merge = MERGE_JUDGING;
		round_check_failed(txn, slot, run_attempt(slot->run, slot->row->attempt));
		break;
	case TRAIN_ANEW:
		merge_anew(txn, slot);
		break;
	}
}

bool train_look(struct slot *slot)
{
	enum train_step step = TRAIN_CHECK;
	struct txn *txn;

	/* it has had its turn, and begins what it does in it once more */
	if (!train_has(slot) || slot->departs)
		return true;
	step = train_step_of(slot);
	txn = txn_new(slot->run->engine);
	activity_end(&slot->activity);
	if (slot_ending(slot))
		slot_ended(txn, slot);
	else
		act(txn, slot, step);
	txn_commit_or_drop(txn);
	return slot->departs;
}

bool train_suspect(struct txn *txn, struct slot *slot)
{
	if (!train_has(slot))
		return false;
	/* it was held, or its check began before what it stands on was taken out */
	if (train_is_left(slot)) {
		merge_anew(txn, slot);
		return true;
	}
	if (!train_stands(slot))
		return false;
	txn_edit_slot(txn, slot)->merge = MERGE_SUSPECTED;
	check_permit_give(txn, slot);
	wait_in_train(txn, slot);
	return true;
}

void train_put_off(struct txn *txn, struct slot *slot)
{
	slot->op.put_off = true;
	activity_wait(&slot->activity, ACTIVITY_TURN);
	train_pass(txn, slot->run);
	turn_pass(txn, slot);
}
