/* SPDX-License-Identifier: MIT */
#include "slot/obstacle.h"

#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/state.h"
#include "git/git_op.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "slot/repetition.h"
#include "slot/round.h"
#include "txn/txn.h"

/* Another obstacle after a fix is no progress, whatever it says. */
void obstacle_set(struct txn *txn, struct slot *slot, enum round_end end, char *why)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	char *repeats = repetition_obstacle(txn, slot, why, row->obstacle != NULL), *cause;

	text_set(&row->obstacle, why);
	/* an acceptance without a verdict does not cover the changed work */
	slot_set_cause(row, NO_CAUSE);
	row->accepted = ACCEPTED_BY_NONE;
	if (repetition_stalls(slot)) {
		cause = xasprintf("stalled: %s: %s", repeats, why);
		round_over(txn, slot, end, CAUSE(END_STALLED, cause));
		free(cause);
	} else if (check_classify(row->fix, row->fixes) == ROUND_FINDINGS) {
		round_over(txn, slot, ROUND_FINDINGS, NO_CAUSE);
	} else {
		round_over(txn, slot, end, CAUSE(round_end_kind(end), why));
	}
	free(repeats);
	free(why);
}

bool obstacle_is_there(const struct slot *slot)
{
	const struct git_op *git = slot->op.git;

	return git_op_conflicts(git) != NULL || git_op_refused(git) != NULL || git_op_unfit(git) != NULL;
}

bool obstacle_ref_moved(struct txn *txn, struct slot *slot)
{
	const char *moved = git_op_moved(slot->op.git);
	char *safe, *why;

	if (moved == NULL)
		return false;
	safe = text_escape(moved, strlen(moved), false);
	why = xasprintf("%s; then approve", safe);
	text_set(&txn_edit_slot(txn, slot)->obstacle, why);
	round_over(txn, slot, ROUND_REF_MOVED, CAUSE(END_REF_MOVED, why));
	free(why);
	free(safe);
	return true;
}

bool obstacle_send_back(struct txn *txn, struct slot *slot)
{
	const char *marked = git_op_conflicts(slot->op.git), *refused = git_op_refused(slot->op.git),
	    *unfit = git_op_unfit(slot->op.git);
	char *safe;

	if (!obstacle_is_there(slot))
		return false;
	if (marked != NULL) {
		safe = text_escape(marked, strlen(marked), false);
		obstacle_set(txn, slot, ROUND_CONFLICT,
		    xasprintf("the conflict with another task is not resolved: its markers are "
		    "still in %s. Resolve it so that both tasks work, and leave no `<<<<<<<` or "
		    "`>>>>>>>` lines.", safe));
	} else if (unfit != NULL) {
		safe = text_escape(unfit, strlen(unfit), false);
		obstacle_set(txn, slot, ROUND_REFUSED,
		    xasprintf("git allows these names in no tree, so they can be neither reviewed nor "
		    "committed: %s. Rename or remove them.", safe));
	} else {
		safe = text_escape(refused, strlen(refused), true);
		obstacle_set(txn, slot, ROUND_REFUSED,
		    xasprintf("the commit was refused by a hook of the repository:\n\n%s", safe));
	}
	free(safe);
	return true;
}
