/* SPDX-License-Identifier: MIT */
/* COMMIT_AGENT: with commit = "agent" an agent commits the accepted work. */
#include "core/state.h"
#include "slot/attempt.h"
#include "slot/attempt_result.h"
#include "slot/stages.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	attempt_begin(txn, slot, ROLE_COMMIT);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	attempt_move(txn, slot, done->attempt);
}

const struct stage stage_commit_agent = {
	.enter = enter,
	.result = result,
	.recover = attempt_missing,
};
