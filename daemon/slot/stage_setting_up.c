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
#include "slot/machine.h"
#include "slot/stages.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* The first command, the next one, or the same again. */
static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from;
	if (why->reason != MOVE_RETRY)
		txn_edit_slot(txn, slot)->setup++;
	attempt_begin(txn, slot, ROLE_SETUP);
}

static char *cause_of(const struct attempt_row *a)
{
	return a->process == PROCESS_EXITED ?
	    xasprintf("setup: \"%s\" exited %lld", a->agent, (long long)a->exit_code) :
	    xasprintf("setup: \"%s\": %s", a->agent, a->cause);
}

/* No room is prepared for later ones. */
static void failed_on_base(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	char *cause = cause_of(a), *text = xasprintf("task %s: %s on the base; each of its rooms is set up by itself",
	    slot_task_id(slot), cause);

	row->prepares = PREPARES_WORK_AGAIN;
	row->setup = 0;
	run_warn(txn, slot->run, text);
	free(text);
	free(cause);
}

/* No human is asked, and no other room helps: the run continues without a baseline. */
static void failed_baseline(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	char *cause = a->state != ATTEMPT_S_LOST ? cause_of(a) : NULL;

	slot_fail(txn, slot, cause != NULL ? CAUSE(END_SETUP, cause) : attempt_row_cause(a));
	free(cause);
}

static void failed(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	char *cause = cause_of(a);

	slot_move(txn, slot, SLOT_S_SETTING_UP, SLOT_S_HELD,
	    &(struct move_why){ .cause = CAUSE(END_SETUP, cause), .hold = HOLD_SETUP });
	free(cause);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct attempt_end *end = done->attempt;

	if (slot_is_baseline(slot) && (end->to == SLOT_S_HELD || end->to == SLOT_S_CHECKOUT)) {
		failed_baseline(txn, slot, end->row);
		return;
	}
	if (end->to == SLOT_S_HELD && !end->lost) {
		failed(txn, slot, end->row);
		return;
	}
	if (end->to == SLOT_S_CHECKOUT)
		failed_on_base(txn, slot, end->row);
	attempt_move(txn, slot, end);
}

const struct stage stage_setting_up = {
	.enter = enter,
	.result = result,
	.recover = attempt_missing,
};
