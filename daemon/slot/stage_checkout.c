/* SPDX-License-Identifier: MIT */
/* CHECKOUT: with workspace = "snapshot" the tree under review is checked out into a separate
 * directory for the reviewer. */
#include "core/row.h"
#include "git/git_op.h"
#include "model/slots.h"
#include "slot/git_request.h"
#include "slot/stages.h"
#include "txn/txn.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	(void)done;
	slot_move(txn, slot, SLOT_S_CHECKOUT, SLOT_S_REVIEWING, NULL);
}

static void recover(struct slot *slot)
{
	git_begin(slot, GIT_CHECKOUT);
}

const struct stage stage_checkout = {
	.git = GIT_CHECKOUT,
	.enter = enter,
	.result = result,
	.recover = recover,
};
