/* SPDX-License-Identifier: MIT */
/* CHECKING: the checks of the plan run one after the other, each as an attempt. The first that
 * fails goes to a fixer with its output. */
#include <stdlib.h>

#include "core/cause.h"
#include "core/review.h"
#include "core/row.h"
#include "core/state.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/attempt.h"
#include "slot/attempt_result.h"
#include "slot/round.h"
#include "slot/stages.h"
#include "txn/txn.h"

/* The first check, the next one, or the same again. */
static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	bool same = why->reason == MOVE_RETRY;

	if (from == SLOT_S_CHECKING && !same)
		txn_edit_slot(txn, slot)->check++;
	else if (!same)
		txn_edit_slot(txn, slot)->check = 1;
	attempt_begin(txn, slot, ROLE_CHECK);
}

/* The check has failed: send it to a fixer, while there is a fix round left. */
static void failed(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	enum round_end end = check_classify(slot->row->fix, slot->row->fixes);
	char *cause = xasprintf("check `%s` still fails after %lld fix attempt(s): %s", a->agent,
	    (long long)slot->row->fix, a->cause);

	txn_edit_slot(txn, slot)->failed_check = a->id;
	round_over(txn, slot, end, end == ROUND_EXHAUSTED ? CAUSE(END_CHECK, cause) : NO_CAUSE);
	free(cause);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct attempt_end *end = done->attempt;

	if (end->to == SLOT_S_FIXING)
		failed(txn, slot, end->row);
	else
		attempt_move(txn, slot, end);
}

const struct stage stage_checking = {
	.enter = enter,
	.result = result,
	.recover = attempt_missing,
};
