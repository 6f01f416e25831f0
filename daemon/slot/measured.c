/* SPDX-License-Identifier: MIT */
#include "slot/measured.h"

#include <stdlib.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/state.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/continue.h"
#include "slot/machine.h"
#include "slot/round.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* NULL: the work is of an earlier run. */
static const struct attempt_row *measured_answer(const struct slot *slot)
{
	return slot->row->answer != ROW_NONE ? run_attempt(slot->run, slot->row->answer) : NULL;
}

/* Slot 0 starts with the answer of another slot, whose work was already measured there. */
struct measure_facts measured_facts(const struct slot *slot, const char *tree)
{
	const struct slot_row *row = slot->row;
	const struct plan *plan = slot_plan(slot);
	const struct attempt_row *answer = measured_answer(slot);

	/* it may be measured again, for another review */
	bool implement = answer != NULL && answer->role == ROLE_IMPLEMENT && answer->slot == row->slot;
	struct measure_facts facts = {
		.accepted = row->accepted != ACCEPTED_BY_NONE,
		.later = plan->review && plan->scope == SCOPE_RUN && row->slot != 0,
		/* what git merged, or a hook changed, was done, whatever is on the disk */
		.unchanged = row->hook_changes == 0 && !slot_judges_merge(slot) &&
		    object_is(tree, row->tree != NULL && !implement ? row->tree : slot_base_tree(slot)),
		.implement = implement,
		.denied = answer != NULL && answer->outcome == TASK_R_DENIED,
		.says_no_change = answer != NULL && answer->says_no_change == 1,
	};

	continue_facts(slot, tree, &facts);
	return facts;
}

#define DENIED " process was denied permissions and changed nothing"

void measured_record(struct txn *txn, struct slot *slot, const struct measure_facts *facts, enum slot_stage to)
{
	const struct attempt_row *answer = measured_answer(slot);
	bool own = answer != NULL && answer->slot == slot->row->slot && answer->iteration == slot->row->iteration;
	bool failed = to == SLOT_S_FAILED;
	struct attempt_row *a;

	if (answer == NULL || facts->accepted || (!own && !failed))
		return;
	a = txn_edit_attempt(txn, answer);
	if (failed && measured_no_change(facts))
		attempt_set_cause(a, CAUSE(END_NO_CHANGE, NO_CHANGE));
	else if (failed)
		attempt_set_cause(a, CAUSE(END_DENIED, a->role == ROLE_FIX ? "fixer" DENIED : "implementer" DENIED));
	if (own)
		a->outcome = (int)measured_outcome(facts);
}

static void warn_no_change(struct txn *txn, struct slot *slot, const char *then)
{
	char *text = xasprintf("task %s: " NO_CHANGE "; %s", slot_task_id(slot), then);

	run_warn(txn, slot->run, text);
	free(text);
}

/* No review follows: record why, and warn if nothing may have been done. */
static void pass_unreviewed(struct txn *txn, struct slot *slot, const struct measure_facts *facts)
{
	const struct plan *plan = slot_plan(slot);

	if (plan->review)
		round_forgo(txn, slot);
	if (measured_no_change(facts))
		warn_no_change(txn, slot, "it is not reviewed");
	review_skip(txn, slot, plan->review ? SKIP_NO_CHANGE : plan->skip_kind);
}

void measured_move(struct txn *txn, struct slot *slot, const struct measure_facts *facts, enum slot_stage to)
{
	bool failed = to == SLOT_S_FAILED;
	bool judged = to == SLOT_S_CHECKOUT || to == SLOT_S_CHECKING || to == SLOT_S_REVIEWING || to == SLOT_S_PANEL;

	if (!facts->accepted && !facts->later && !failed && !judged)
		pass_unreviewed(txn, slot, facts);
	if (facts->later && !failed && measured_no_change(facts))
		warn_no_change(txn, slot, "it is reviewed with the whole run");
	round_commit(txn, slot, to, &(struct move_why){ .cause = failed && measured_answer(slot) != NULL ?
	        attempt_row_cause(measured_answer(slot)) : NO_CAUSE });
}

void measured_checked(struct txn *txn, struct slot *slot)
{
	struct measure_facts facts = measured_facts(slot, slot->row->tree);
	const struct attempt_row *answer = measured_answer(slot);
	enum slot_stage to;

	if (slot_checks_merge(slot)) {
		slot_move(txn, slot, slot_stage(slot), SLOT_S_MERGING, NULL);
		return;
	}
	/* the row has only the new tree now, and the answer what became of it */
	facts.unchanged = answer != NULL && answer->outcome == TASK_R_NO_CHANGE;
	facts.checked = true;
	to = stage_after_measure(slot_plan(slot), &facts);
	if (to == SLOT_S_FAILED)
		measured_record(txn, slot, &facts, to);
	measured_move(txn, slot, &facts, to);
}
