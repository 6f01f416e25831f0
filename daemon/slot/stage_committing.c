/* SPDX-License-Identifier: MIT */
/* COMMITTING: git commits the accepted work, or adopts the commits of a commit agent. */
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/state.h"
#include "git/git_op.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "slot/git_request.h"
#include "slot/head.h"
#include "slot/machine.h"
#include "slot/obstacle.h"
#include "slot/review_rows.h"
#include "slot/round.h"
#include "slot/stages.h"
#include "txn/emit.h"
#include "txn/txn.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	/* A merge that was accepted is committed again, and a hook may change it: what is judged
	 * then is not what was held back. */
	if (slot_judges_merge(slot))
		txn_edit_slot(txn, slot)->merge = MERGE_SENT_BACK;
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

static void warn_of_no_commit(struct txn *txn, struct slot *slot)
{
	bool unchanged = object_is(slot->row->tree, slot_base_tree(slot));
	char *text = xasprintf("task %s: nothing was committed: %s", slot_task_id(slot),
	    unchanged ? "the tree is unchanged" : "HEAD contains the work already");

	run_warn(txn, slot->run, text);
	free(text);
}

/* The commit follows the attributes that the run began with. */
static void warn_of_unconverted(struct txn *txn, struct slot *slot)
{
	const char *names = git_op_unconverted(slot->op.git);
	char *safe, *text;

	if (names == NULL)
		return;
	safe = text_escape(names, strlen(names), false);
	text = xasprintf("task %s: .gitattributes files that the work changed have no effect on its commit: %s; "
	    "`git add --renormalize .` and a commit apply them", slot_task_id(slot), safe);
	run_warn(txn, slot->run, text);
	free(text);
	free(safe);
}

/* A hook has changed the work, so it is checked and reviewed once more in that form. A hook that
 * does so again would do so forever. Returns whether there was such a hook. */
static bool judge_again(struct txn *txn, struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);
	bool reviewed = plan->review && (plan->scope != SCOPE_RUN || slot->row->slot == 0);
	struct slot_row *row;
	char *safe, *text;

	if (!git_op_hook_changed(slot->op.git))
		return false;
	row = txn_edit_slot(txn, slot);
	safe = text_escape(git_op_refused(slot->op.git), strlen(git_op_refused(slot->op.git)), false);
	/* an acceptance does not cover the changed work */
	slot_set_cause(row, NO_CAUSE);
	row->accepted = ACCEPTED_BY_NONE;
	if (row->hook_changes++ == 0) {
		text = xasprintf("task %s: %s; the work is reviewed again", slot_task_id(slot), safe);
		run_warn(txn, slot->run, text);
		slot_move(txn, slot, SLOT_S_COMMITTING, !reviewed ? SLOT_S_MEASURING :
		    stage_after_work((int64_t)strings_count(plan->checks), true, plan_checks_room(plan)), NULL);
	} else {
		text = xasprintf("a hook of the repository changes the work at each commit: %s", safe);
		text_set(&row->obstacle, text);
		round_over(txn, slot, ROUND_REFUSED, CAUSE(END_COMMIT_REFUSED, text));
	}
	free(text);
	free(safe);
	return true;
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const char *commit = git_op_commit(slot->op.git);
	const struct plan *plan = slot_plan(slot);
	bool whole = slot->row->slot == 0;
	struct slot_row *row;
	char *partial;

	(void)done;
	if (judge_again(txn, slot) || obstacle_send_back(txn, slot))
		return;
	row = txn_edit_slot(txn, slot);
	head_committed(txn, slot);
	/* without changes the branch stays at its base */
	text_set(&row->commit_id, commit != NULL ? commit : row->base_commit);
	text_set(&row->obstacle, NULL);
	warn_of_unconverted(txn, slot);
	if (commit == NULL)
		warn_of_no_commit(txn, slot);
	else if (plan->integrate != INTEGRATE_MERGE || whole)
		text_set(&txn_edit_run(txn, slot->run)->result_commit, commit);
	partial = round_partial(slot);
	if (partial != NULL)
		slot_fail(txn, slot, CAUSE(END_PARTIAL, partial));
	else
		slot_move(txn, slot, SLOT_S_COMMITTING, stage_after_commit(plan, slot_passed(slot), whole), NULL);
	free(partial);
}

static void recover(struct slot *slot)
{
	int64_t last = slot->row->attempt;
	bool agent = last != ROW_NONE && run_attempt(slot->run, last)->role == ROLE_COMMIT;

	git_begin(slot, agent ? GIT_ADOPT_COMMITS : GIT_COMMIT);
}

const struct stage stage_committing = {
	.git = GIT_COMMIT,
	.enter = enter,
	.result = result,
	.recover = recover,
};
