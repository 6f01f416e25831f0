/* SPDX-License-Identifier: MIT */
#include "slot/merge_state.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/state.h"
#include "evidence/check_evidence.h"
#include "evidence/evidence.h"
#include "evidence/product.h"
#include "git/git_op.h"
#include "model/activity.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "slot/machine.h"
#include "slot/review_rows.h"
#include "slot/train_order.h"
#include "txn/txn.h"

static void forget_acceptance(struct slot_row *row)
{
	slot_set_cause(row, NO_CAUSE);
	row->accepted = ACCEPTED_BY_NONE;
}

/* A retry begins with that: the merged tree may have what is red by the work of another task. Where
 * merged trees are reviewed, that review is the word on the work, and nothing is merged onto it. */
static void keep_own(struct slot_row *row, const struct plan *plan)
{
	if (slot_merge_is_open((enum slot_merge)row->merge) || plan->review_merged == REVIEW_MERGED_ALWAYS)
		return;
	text_set(&row->own_commit, row->commit_id);
	text_set(&row->own_base_commit, row->base_commit);
	text_set(&row->own_base_tree, row->base_tree);
}

void merge_held_back(struct txn *txn, struct slot *slot)
{
	const struct git_op *git = slot->op.git;
	struct slot_row *row = txn_edit_slot(txn, slot);
	int64_t known = 0;

	keep_own(row, slot_plan(slot));
	text_set(&row->base_commit, git_op_head(git));
	text_set(&row->base_tree, git_op_base(git));
	text_set(&row->commit_id, git_op_commit(git));
	text_set(&row->tree, git_op_tree(git));
	row->merge = MERGE_JUDGING;
	row->check = row->gap = 0;
	row->red_check = row->failed_check = ROW_NONE;
	product_add(txn, slot, PRODUCT_MERGED, row->tree);
	if (slot_plan(slot)->review_merged == REVIEW_MERGED_ALWAYS) {
		forget_acceptance(row);
	} else {
		known = checks_known(slot, row->tree, 0);
		checks_reuse(txn, slot, 0, known);
		row->check = known;
	}
	slot_move(txn, slot, SLOT_S_MERGING, stage_after_held_back(slot_plan(slot), known), NULL);
}

void merge_send_back(struct txn *txn, struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	if (row->merge != MERGE_JUDGING)
		return;
	row->merge = MERGE_SENT_BACK;
	forget_acceptance(row);
}

/* What there is to say of the merged tree. The review of a whole run is not over yet. */
static enum slot_merge state_of(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);

	if (slot_judges_merge(slot))
		return MERGE_CHECKED;
	if (slot->row->merge == MERGE_TOGETHER)
		return MERGE_TOGETHER;
	if (!git_op_new_tree(slot->op.git))
		return MERGE_UNCHANGED;
	return plan->review && plan->scope == SCOPE_RUN ? MERGE_NOT : MERGE_UNCHECKED;
}

/* The result of the run is what its branch has now, and had before if a later task has brought it
 * there. */
static void set_result(struct txn *txn, struct slot *slot)
{
	struct run_row *run = txn_edit_run(txn, slot->run);
	char *ref;

	if (slot->row->merge == MERGE_TOGETHER && text_equal(run->result_commit, git_op_commit(slot->op.git)))
		return;
	ref = xasprintf("refs/heads/%s", run->result_branch);
	text_set(&run->result_commit, git_op_commit(slot->op.git));
	text_set(&run->result_ref, ref);
	text_set(&run->result_tree, slot->row->merge == MERGE_CHECKED || slot->row->merge == MERGE_UNCHANGED ||
	    git_op_tree(slot->op.git) == NULL ? slot->row->tree : git_op_tree(slot->op.git));
	free(ref);
}

static void tell_evidence(struct txn *txn, struct slot *slot)
{
	const char *subject = slot->row->merge == MERGE_UNCHECKED ? MERGED_UNCHECKED :
	    slot->row->merge == MERGE_TOGETHER ? MERGED_TOGETHER : NULL;

	if (subject != NULL)
		evidence_append(txn, slot->run, evidence_new(slot, EVIDENCE_CHECK, subject, EVIDENCE_VOID));
}

/* The branch has moved past the commits of these. NULL-terminated; takes the array. */
static void carry(struct txn *txn, struct slot **carried)
{
	for (size_t i = 0; carried[i] != NULL; i++) {
		activity_end(&carried[i]->activity);
		txn_edit_slot(txn, carried[i])->merge = MERGE_TOGETHER;
	}
	for (size_t i = 0; carried[i] != NULL; i++)
		slot_move(txn, carried[i], SLOT_S_CHECKOUT, SLOT_S_MERGING, NULL);
	free(carried);
}

void merge_done(struct txn *txn, struct slot *slot, int64_t patch)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	bool judged = slot_judges_merge(slot) || row->merge == MERGE_TOGETHER;
	struct slot **carried = train_before(slot);
	const char *tree = git_op_tree(slot->op.git);

	row->merge = (int)state_of(slot);
	row->diff = patch;
	text_set(&row->diff_hash, slot->op.patch_hash);
	/* NULL: merged by the rl-git of an earlier version */
	if (tree != NULL && !judged)
		product_add(txn, slot, PRODUCT_MERGED, tree);
	set_result(txn, slot);
	tell_evidence(txn, slot);
	txn_emit(txn, "slot.merged", row->run, json_pack("{s:I, s:s, s:s*, s:s*}",
	    "slot", (json_int_t)row->slot, "task", slot_task_id(slot), "commit",
	    row->merge == MERGE_TOGETHER ? row->commit_id : git_op_commit(slot->op.git),
	    "merge", state_name(&slot_merge_names, row->merge)));
	carry(txn, carried);
	slot_move(txn, slot, SLOT_S_MERGING, stage_after_merge(slot_plan(slot), slot_passed(slot)), NULL);
}
