/* SPDX-License-Identifier: MIT */
/* ENDING: the slot is cancelled, and its activity is being ended. */
#include "core/row.h"
#include "model/activity.h"
#include "model/runs.h"
#include "model/slots.h"
#include "slot/attempt.h"
#include "slot/stages.h"
#include "txn/txn.h"

/* Waits are over immediately, a process is told to end, everything else ends by itself. */
static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	switch (slot->activity.kind) {
	case ACTIVITY_ATTEMPT:
	case ACTIVITY_OPERATION:
		txn_effect(txn, EFFECT_END, slot->run, slot, slot->activity.id);
		break;
	case ACTIVITY_PERMIT:
	case ACTIVITY_ACCOUNT:
	case ACTIVITY_CHECKS:
	case ACTIVITY_TRAIN:
	case ACTIVITY_TURN:
	case ACTIVITY_BASELINE:
	case ACTIVITY_PANEL:
	case ACTIVITY_RETRY:
		attempt_cancelled(txn, slot);
		break;
	case ACTIVITY_COMMIT:
	case ACTIVITY_JOB:
	case ACTIVITY_NONE:
	case ACTIVITY_PICK:
	case ACTIVITIES:
		break;
	}
}

/* The result no longer counts. */
static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	(void)done;
	attempt_cancelled(txn, slot);
}

static void recover(struct slot *slot)
{
	struct txn *txn = txn_new(slot->run->engine);

	attempt_cancelled(txn, slot);
	txn_commit(txn);
}

const struct stage stage_ending = {
	.enter = enter,
	.result = result,
	.recover = recover,
};
