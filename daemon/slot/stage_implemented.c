/* SPDX-License-Identifier: MIT */
/* IMPLEMENTED: the slot waits for the review of the whole run by slot 0. The run moves it on:
 * run/lifecycle.c. */
#include "slot/review_rows.h"
#include "slot/stages.h"
#include "slot/task_end.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from;
	task_end(txn, slot, why);
	review_log(txn, slot);
}

const struct stage stage_implemented = {
	.enter = enter,
};
