/* SPDX-License-Identifier: MIT */
/* MEASURING: git records the work as a tree and a patch, with its objections. The tree shows
 * whether the last agent has done anything. */
#include <stdlib.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/review.h"
#include "core/row.h"
#include "core/state.h"
#include "git/git_op.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/git_request.h"
#include "slot/obstacle.h"
#include "slot/round.h"
#include "slot/stages.h"
#include "txn/emit.h"
#include "txn/txn.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	if (slot_begins_review(slot))
		round_begin(txn, slot);
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

/* Slot 0 starts with the answer of another slot, whose work was already measured there. */
static struct measure_facts facts_of(const struct slot *slot, const struct attempt_row *answer, const char *tree)
{
	const struct slot_row *row = slot->row;
	const struct plan *plan = slot_plan(slot);

	return (struct measure_facts){
		.accepted = row->accepted != ACCEPTED_BY_NONE,
		.later = plan->review && plan->scope == SCOPE_RUN && row->slot != 0,
		.unchanged = object_is(tree, row->tree != NULL ? row->tree : slot_base_tree(slot)),
		.implement = answer->role == ROLE_IMPLEMENT && answer->slot == row->slot,
		.denied = answer->outcome == TASK_R_DENIED,
		.says_no_change = answer->says_no_change == 1,
	};
}

#define DENIED " process was denied permissions and changed nothing"

/* Record in the answer's row what its attempt has really done. */
static void record_outcome(struct txn *txn, struct slot *slot, const struct attempt_row *answer,
    const struct measure_facts *facts, bool failed)
{
	bool own = answer->slot == slot->row->slot && answer->iteration == slot->row->iteration;
	struct attempt_row *a;

	if (!own && !failed)
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

static void take_tree(struct slot_row *row, const char *tree, int64_t patch)
{
	free(row->previous_tree);
	row->previous_tree = row->tree;
	row->tree = xstrdup(tree);
	row->diff = patch;
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const char *tree = git_op_tree(slot->op.git);
	const struct attempt_row *answer = run_attempt(slot->run, slot->row->answer);
	struct measure_facts facts = facts_of(slot, answer, tree);
	enum slot_stage to = stage_after_measure(slot_plan(slot), &facts);
	bool failed = to == SLOT_S_FAILED, reviewed = to == SLOT_S_REVIEWING || to == SLOT_S_CHECKOUT;

	if (!facts.accepted)
		record_outcome(txn, slot, answer, &facts, failed);
	if (!failed)
		take_tree(txn_edit_slot(txn, slot), tree, done->step);
	if (!failed && obstacle_is_there(slot)) {
		if (slot_begins_review(slot))
			round_forgo(txn, slot);
		obstacle_send_back(txn, slot);
		return;
	}
	if (!facts.accepted && !facts.later && !failed && !reviewed)
		pass_unreviewed(txn, slot, &facts);
	if (facts.later && !failed && measured_no_change(&facts))
		warn_no_change(txn, slot, "it is reviewed with the whole run");
	slot_move(txn, slot, SLOT_S_MEASURING, to,
	    &(struct move_why){ .cause = failed ? attempt_row_cause(answer) : NO_CAUSE });
}

static void recover(struct slot *slot)
{
	git_begin(slot, GIT_MEASURE);
}

const struct stage stage_measuring = {
	.git = GIT_MEASURE,
	.enter = enter,
	.result = result,
	.recover = recover,
};
