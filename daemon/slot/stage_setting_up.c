/* SPDX-License-Identifier: MIT */
/* SETTING_UP: the set-up commands of the plan run one after the other in a new work tree or room,
 * each as an attempt. If one fails, a human decides. */
#include <stdlib.h>

#include "core/cause.h"
#include "core/row.h"
#include "core/state.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/attempt.h"
#include "slot/attempt_result.h"
#include "slot/stages.h"
#include "txn/txn.h"

/* The first command, the next one, or the same again. */
static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from;
	if (why->reason != MOVE_RETRY)
		txn_edit_slot(txn, slot)->setup++;
	attempt_begin(txn, slot, ROLE_SETUP);
}

static void failed(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	char *cause = a->process == PROCESS_EXITED ?
	    xasprintf("setup: \"%s\" exited %lld", a->agent, (long long)a->exit_code) :
	    xasprintf("setup: \"%s\": %s", a->agent, a->cause);

	slot_move(txn, slot, SLOT_S_SETTING_UP, SLOT_S_HELD,
	    &(struct move_why){ .cause = CAUSE(END_SETUP, cause), .hold = HOLD_SETUP });
	free(cause);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct attempt_end *end = done->attempt;

	if (end->to == SLOT_S_HELD && !end->lost)
		failed(txn, slot, end->row);
	else
		attempt_move(txn, slot, end);
}

const struct stage stage_setting_up = {
	.enter = enter,
	.result = result,
	.recover = attempt_missing,
};
