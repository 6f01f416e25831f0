/* SPDX-License-Identifier: MIT */
/* PANEL: the reviewers of the panel judge the work, each in a separate voter slot. */
#include "model/slots.h"
#include "slot/panel.h"
#include "slot/panel_decision.h"
#include "slot/stages.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	panel_begin(txn, slot);
}

const struct stage stage_panel = {
	.enter = enter,
	.recover = panel_look,
};
