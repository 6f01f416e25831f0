/* SPDX-License-Identifier: MIT */
/* CREATING_WORKTREE: git creates the work tree of the slot, on its own branch. Slot 0 gets the
 * branch of the run, with all results. */
#include <stdlib.h>

#include "core/next_stage.h"
#include "core/row.h"
#include "evidence/product.h"
#include "git/git_op.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/base_check.h"
#include "slot/continue.h"
#include "slot/git_request.h"
#include "slot/ref_names.h"
#include "slot/stages.h"
#include "txn/txn.h"

/* Record path and base of the work tree before anything of it exists. */
static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	char *dir = git_dir(slot, GIT_WORKTREE_ADD);
	char *branch = git_branch(slot);
	struct continuation c;

	(void)from, (void)why;
	text_set(&row->worktree, dir);
	text_set(&row->branch, branch);
	text_set(&row->base_commit, git_commit_of(slot, GIT_WORKTREE_ADD));
	if (continue_work(slot, &c)) {
		text_set(&row->tree, c.tree);
		/* with the commit of the work, if there is one */
		if (row->slot != 0)
			text_set(&row->base_commit, c.commit != NULL ? c.commit : c.base_commit);
	}
	continuation_release(&c);
	free(branch);
	free(dir);
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct run_row *run = &slot->run->rows->run;
	struct slot_row *row = txn_edit_slot(txn, slot);
	bool whole = row->slot == 0;

	(void)done;
	if (whole) {
		/* the review of the run covers everything since its base */
		text_set(&row->base_commit, run->base_commit);
		text_set(&row->base_tree, run->base_tree);
	} else {
		text_set(&row->branch, git_op_branch(slot->op.git));
		text_set(&row->base_commit, git_op_commit(slot->op.git));
		text_set(&row->base_tree, git_op_tree(slot->op.git));
		if (run->base_tree == NULL && object_is(row->base_commit, run->base_commit))
			text_set(&txn_edit_run(txn, slot->run)->base_tree, row->base_tree);
	}
	continue_laid(txn, slot, git_op_laid(slot->op.git));
	product_base(txn, slot->run);
	slot_move(txn, slot, SLOT_S_CREATING_WORKTREE,
	    base_before_work(txn, slot,
	    continue_before_work(txn, slot, stage_after_worktree(slot_plan(slot), whole))), NULL);
}

static void recover(struct slot *slot)
{
	git_begin(slot, GIT_WORKTREE_ADD);
}

const struct stage stage_creating_worktree = {
	.git = GIT_WORKTREE_ADD,
	.enter = enter,
	.result = result,
	.recover = recover,
};
