/* SPDX-License-Identifier: MIT */
/* REVIEWING: an agent reviews the work. Its answer is read in VERIFYING, after the tree was
 * checked. */
#include <stdlib.h>

#include "core/cause.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/review.h"
#include "core/row.h"
#include "core/state.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/attempt.h"
#include "slot/attempt_result.h"
#include "slot/reviewer_failure.h"
#include "slot/round.h"
#include "slot/stages.h"
#include "txn/emit.h"

/* Without git there was no measurement, so the round begins here. */
static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from;
	if (slot->run->rows->run.has_git != 1 && why->reason != MOVE_RETRY)
		round_begin(txn, slot);
	attempt_begin(txn, slot, ROLE_REVIEW);
}

#define LEFT_OUT \
	"its environment contains PATH, HOME and the like, " \
	    "and the variables in env of [review] or of its agent; " \
	    "add the others it needs there, or pass them with --env NAME=VALUE"

/* The requirement lets a reviewing program inherit the whole environment, but rld filters it: a
 * program that lacks a variable can only report that by its exit status. */
static void failed(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	char *text;

	if (slot_plan(slot)->profile->carrier != CARRIER_EXIT || a->exit_code != 2) {
		reviewer_failed(txn, slot, a->cause, attempt_row_cause(a));
	} else {
		text = xasprintf("%s; %s", a->cause, LEFT_OUT);
		slot_warn(txn, slot, "the review program failed: " LEFT_OUT);
		reviewer_failed(txn, slot, text, attempt_row_cause(a));
		free(text);
	}
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct attempt_end *end = done->attempt;

	if (end->failed)
		failed(txn, slot, end->row);
	else
		attempt_move(txn, slot, end);
}

const struct stage stage_reviewing = {
	.enter = enter,
	.result = result,
	.recover = attempt_missing,
};
