/* SPDX-License-Identifier: MIT */
/* What git's answer means for the slot. */
#include "slot/git_result.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/review.h"
#include "core/row.h"
#include "core/state.h"
#include "git/op.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "slot/git_request.h"
#include "slot/head.h"
#include "slot/machine.h"
#include "slot/ref_names.h"
#include "slot/review_rows.h"
#include "slot/reviewing.h"
#include "slot/shared_paths.h"
#include "slot/teardown.h"
#include "txn/emit.h"
#include "txn/txn.h"

static bool same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

#define DENIED " process was denied permissions and changed nothing"

/* What the tree tells of whoever worked last. Slot 0 begins with the answer of another slot, whose work has been weighed there. */
static struct measure_facts weigh(const struct slot *slot, const struct attempt_row *a, const char *tree)
{
	const struct slot_row *row = slot->row;
	const struct plan *plan = slot_plan(slot);

	return (struct measure_facts){
		.accepted = row->accepted != ACCEPTED_BY_NONE,
		.later = plan->review && plan->scope == SCOPE_RUN && row->slot != 0,
		.unchanged = same(tree, row->tree != NULL ? row->tree : slot_base_tree(slot)),
		.implement = a->role == ROLE_IMPLEMENT && a->slot == row->slot,
		.denied = a->outcome == TASK_R_DENIED,
		.says_no_change = a->says_no_change == 1,
	};
}

/* Nothing after a refused permission is a failure, nothing at all is told. */
static void take_weight(struct txn *txn, struct slot *slot, const struct attempt_row *answer, const struct measure_facts *facts,
    bool failed)
{
	struct attempt_row *a;
	bool own = answer->slot == slot->row->slot && answer->iteration == slot->row->iteration;

	if (!own && !failed)
		return;
	a = txn_edit_attempt(txn, answer);
	if (failed) {
		attempt_set_cause(a, measured_no_change(facts) ? CAUSE(END_NO_CHANGE, NO_CHANGE) :
		    CAUSE(END_DENIED, a->role == ROLE_FIX ? "fixer" DENIED : "implementer" DENIED));
	}
	if (own)
		a->outcome = (int)measured_outcome(facts);
}

static void warn_no_change(struct txn *txn, struct slot *slot, const char *then)
{
	char *text = xasprintf("task %s: " NO_CHANGE "; %s", slot_task_id(slot), then);

	run_warn(txn, slot->run, text);
	free(text);
}

/* Nobody reviews what the slot has: why not, and that nothing may have been done. */
static void pass_unreviewed(struct txn *txn, struct slot *slot, const struct measure_facts *facts)
{
	bool no_change = measured_no_change(facts);

	/* the review that was about to begin does not */
	if (slot_plan(slot)->review)
		txn_edit_slot(txn, slot)->round--;
	if (no_change)
		warn_no_change(txn, slot, "it is not reviewed");
	review_skip(txn, slot, slot_plan(slot)->review ? SKIP_NO_CHANGE : slot_plan(slot)->skip_kind);
}

/* What git has against the result goes to a fixer, while there is a fix round left. That it has something again, although a fixer has
 * been asked, is a stalled round. Takes why. */
static void send_back(struct txn *txn, struct slot *slot, enum round_end end, char *why)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct plan *plan = slot_plan(slot);
	char *cause;
	bool stalled;

	row->stalled = row->obstacle != NULL ? row->stalled + 1 : 0;
	stalled = round_is_stalled(row->stalled, plan->stall_limit);
	text_set(&row->obstacle, why);
	/* what was accepted by leave is not accepted as it is now */
	slot_set_cause(row, NO_CAUSE);
	row->accepted = ACCEPTED_BY_NONE;
	cause = stalled ? xasprintf("stalled: %lld fix attempts in a row have left it so: %s", (long long)row->stalled, why) : xstrdup(why);
	if (check_classify(row->fix, row->fixes) == ROUND_FINDINGS && !stalled)
		review_over(txn, slot, ROUND_FINDINGS, NO_CAUSE);
	else
		review_over(txn, slot, end, CAUSE(stalled ? END_STALLED : round_end_kind(end), cause));
	free(cause);
	free(why);
}

/* True: there was something. */
static bool send_back_if(struct txn *txn, struct slot *slot)
{
	const char *marked = git_op_conflicts(slot->op.git), *refused = git_op_refused(slot->op.git);
	char *safe;

	if (marked != NULL) {
		safe = text_escape(marked, strlen(marked), false);
		send_back(txn, slot, ROUND_CONFLICT, xasprintf("the conflict with another task is not resolved: its markers are still in %s. "
		    "Resolve it so that both tasks hold, and leave no line of `<<<<<<<` and `>>>>>>>`.", safe));
	} else if (refused != NULL) {
		safe = text_escape(refused, strlen(refused), true);
		send_back(txn, slot, ROUND_REFUSED, xasprintf("the commit was refused by a hook of the repository:\n\n%s", safe));
	} else {
		return false;
	}
	free(safe);
	return true;
}

static void measured(struct txn *txn, struct slot *slot, int64_t last_step)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct attempt_row *a = run_attempt(slot->run, row->answer);
	const char *tree = git_op_tree(slot->op.git);
	const struct plan *plan = slot_plan(slot);
	struct measure_facts facts = weigh(slot, a, tree);
	enum slot_stage to = stage_after_measure(plan, &facts);
	bool failed = to == SLOT_S_FAILED, reviewed = to == SLOT_S_REVIEWING || to == SLOT_S_CHECKOUT;

	if (!facts.accepted)
		take_weight(txn, slot, a, &facts, failed);
	if (!failed) {
		free(row->previous_tree);
		row->previous_tree = row->tree;
		row->tree = xstrdup(tree);
		row->diff = last_step;
	}
	if (!failed && (git_op_conflicts(slot->op.git) != NULL || git_op_refused(slot->op.git) != NULL)) {
		/* the review that was about to begin does not */
		if (slot_begins_review(slot))
			row->round--;
		send_back_if(txn, slot);
		return;
	}
	if (!facts.accepted && !facts.later && !failed && !reviewed)
		pass_unreviewed(txn, slot, &facts);
	if (facts.later && !failed && measured_no_change(&facts))
		warn_no_change(txn, slot, "it is reviewed with the whole run");
	slot_move(txn, slot, SLOT_S_MEASURING, to, &(struct move_why){ .cause = failed ? attempt_row_cause(a) : NO_CAUSE });
}

/* A verdict passed it: from now on the artifact is locked. */
static void pinned(struct txn *txn, struct slot *slot)
{
	struct run_row *run = txn_edit_run(txn, slot->run);

	free(run->result_ref);
	run->result_ref = git_ref(slot, GIT_PIN);
	text_set(&run->result_tree, slot->row->tree);
	if (slot_task(slot) != NULL) {
		struct task_row *task = txn_edit_task(txn, slot_task(slot));

		free(task->locked_ref);
		task->locked_ref = git_ref(slot, GIT_PIN);
		text_set(&task->locked_tree, slot->row->tree);
	}
	slot_move(txn, slot, SLOT_S_PINNING, SLOT_S_PASSED, NULL);
}

static void committed(struct txn *txn, struct slot *slot)
{
	struct slot_row *row;
	const char *commit = git_op_commit(slot->op.git);

	if (send_back_if(txn, slot))
		return;
	row = txn_edit_slot(txn, slot);
	head_committed(txn, slot);
	/* nothing to commit leaves the branch where it was made */
	text_set(&row->commit_id, commit != NULL ? commit : row->base_commit);
	text_set(&row->obstacle, NULL);
	if (commit == NULL) {
		char *text = xasprintf("task %s: nothing was committed: %s", slot_task_id(slot),
		    same(row->tree, slot_base_tree(slot)) ? "the tree is as it was before" : "HEAD has the work already");

		run_warn(txn, slot->run, text);
		free(text);
	} else if (slot_plan(slot)->integrate != INTEGRATE_MERGE || row->slot == 0) {
		text_set(&txn_edit_run(txn, slot->run)->result_commit, commit);
	}
	slot_move(txn, slot, SLOT_S_COMMITTING, stage_after_commit(slot_plan(slot), slot_passed(slot), row->slot == 0), NULL);
}

/* It stands on what the others have done, or the work tree does, with what does not fit marked in it. */
static void merged(struct txn *txn, struct slot *slot, int64_t last_step)
{
	struct run *run = slot->run;
	struct slot_row *row = txn_edit_slot(txn, slot);
	const char *conflicts = git_op_conflicts(slot->op.git), *taken = git_op_taken(slot->op.git);

	if (taken != NULL) {
		char *safe = text_escape(taken, strlen(taken), false);
		char *why = xasprintf("%s is checked out in %s, so nothing is put on it: what is there would fall behind, and a commit there undo it. "
		    "Go to another branch there, then approve", run->rows->run.result_branch, safe);

		/* no fixer can help */
		text_set(&row->obstacle, why);
		review_over(txn, slot, ROUND_CONFLICT, CAUSE(END_CONFLICT, why));
		free(why);
		free(safe);
	} else if (conflicts != NULL) {
		char *safe = text_escape(conflicts, strlen(conflicts), false);

		text_set(&row->base_commit, git_op_commit(slot->op.git));
		text_set(&row->base_tree, git_op_base(slot->op.git));
		text_set(&row->tree, git_op_tree(slot->op.git));
		send_back(txn, slot, ROUND_CONFLICT, xasprintf("this work conflicts with that of another task, which has been put on the same branch "
		    "meanwhile: %s. The work tree stands on that branch now, and has this work as changes that are not committed; "
		    "where both changed the same lines there are conflict markers. Resolve them so that both tasks hold.", safe));
		free(safe);
	} else {
		text_set(&txn_edit_run(txn, run)->result_commit, git_op_commit(slot->op.git));
		row->diff = last_step;	/* of everything so far */
		txn_emit(txn, "slot.merged", row->run, json_pack("{s:I, s:s, s:s*}", "slot", (json_int_t)row->slot, "task", slot_task_id(slot),
		    "commit", git_op_commit(slot->op.git)));
		slot_move(txn, slot, SLOT_S_MERGING, stage_after_merge(slot_plan(slot), slot_passed(slot)), NULL);
	}
}

void git_lay(struct txn *txn, struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	char *dir = git_dir(slot, GIT_WORKTREE);
	char *branch = git_branch(slot);

	text_set(&row->worktree, dir);
	text_set(&row->branch, branch);
	text_set(&row->base_commit, git_commit_of(slot, GIT_WORKTREE));
	free(branch);
	free(dir);
}

static void laid(struct txn *txn, struct slot *slot)
{
	const struct run_row *run = &slot->run->rows->run;
	struct slot_row *row = txn_edit_slot(txn, slot);

	if (row->slot == 0) {
		/* the review of the run is about everything since its base */
		text_set(&row->base_commit, run->base_commit);
		text_set(&row->base_tree, run->base_tree);
	} else {
		text_set(&row->branch, git_op_branch(slot->op.git));
		text_set(&row->base_commit, git_op_commit(slot->op.git));
		text_set(&row->base_tree, git_op_tree(slot->op.git));
		if (run->base_tree == NULL && same(row->base_commit, run->base_commit))
			text_set(&txn_edit_run(txn, slot->run)->base_tree, row->base_tree);
	}
	slot_move(txn, slot, SLOT_S_CREATING_WORKTREE, stage_after_worktree(slot_plan(slot), row->slot == 0), NULL);
}

/* The work tree is gone, and what only it had is kept. */
static void cleared(struct txn *txn, struct slot *slot)
{
	struct run *run = slot->run;
	const char *commit = git_op_commit(slot->op.git);

	if (commit != NULL) {
		struct salvage_row *s = row_new(ROW_SALVAGE);

		s->id = ++run->engine->last_attempt;
		s->run = run->rows->run.id;
		s->task = xstrdup(slot_task_id(slot));
		s->workspace = xstrdup(run->rows->run.workspace);
		s->ref = git_ref(slot, GIT_CLEAR);
		s->commit_id = xstrdup(commit);
		s->path = xstrdup(slot->row->worktree);
		s->created_at = engine_now(run->engine);
		txn_put(txn, ROW_SALVAGE, s);
		txn_emit(txn, "salvaged", s->run, json_pack("{s:I, s:s, s:s}", "salvage", (json_int_t)s->id, "task", s->task, "ref", s->ref));
		row_free(ROW_SALVAGE, s);
	}
	text_set(&txn_edit_slot(txn, slot)->branch, git_op_branch_left(slot->op.git) ? git_op_branch(slot->op.git) : NULL);
	leave_next(txn, slot, NULL);
}

void git_done(struct txn *txn, struct slot *slot, int64_t last_step)
{
	switch (slot->op.git_kind) {
	case GIT_WORKTREE:
		laid(txn, slot);
		break;
	case GIT_MEASURE:
		measured(txn, slot, last_step);
		break;
	case GIT_VERIFY:
		/* somebody who came meanwhile may have been it */
		if (git_op_changed(slot->op.git) != NULL && slot->op.others_met < slot_others_met(slot)) {
			txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
			break;
		}
		text_set(&txn_edit_slot(txn, slot)->beside, git_op_beside(slot->op.git));
		review_judge(slot, git_op_changed(slot->op.git), git_op_appeared(slot->op.git));
		break;
	case GIT_PIN:
		pinned(txn, slot);
		break;
	case GIT_CHECKOUT:
		slot_move(txn, slot, SLOT_S_CHECKOUT, SLOT_S_REVIEWING, NULL);
		break;
	case GIT_COMMIT:
	case GIT_COMMITTED:
		committed(txn, slot);
		break;
	case GIT_MERGE:
		merged(txn, slot, last_step);
		break;
	case GIT_CLEAR:
		cleared(txn, slot);
		break;
	case GIT_LOOK:
		head_looked(txn, slot);
		leave_next(txn, slot, NULL);
		break;
	case GIT_SNAPSHOT:	/* of the run: see run/preparation.c */
	case GIT_BASE:
	case GIT_OPS:
		break;
	}
}
