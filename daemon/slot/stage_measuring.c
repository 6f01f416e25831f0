/* SPDX-License-Identifier: MIT */
/* MEASURING: git records the work as a tree and a patch, with its objections. The tree shows
 * whether the last agent has done anything. */
#include <stdlib.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/review.h"
#include "core/row.h"
#include "evidence/check_evidence.h"
#include "evidence/product.h"
#include "git/git_op.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/continue.h"
#include "slot/git_request.h"
#include "slot/judged.h"
#include "slot/measured.h"
#include "slot/obstacle.h"
#include "slot/open_question.h"
#include "slot/round.h"
#include "slot/stages.h"
#include "txn/emit.h"
#include "txn/txn.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	/* before an answer there is nothing to judge */
	if (slot_begins_review(slot) && slot->row->question == NULL)
		round_begin(txn, slot);
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

static void warn_of_judging(struct txn *txn, const struct slot *slot)
{
	const char *names = git_op_judging(slot->op.git);
	char *text;

	if (names == NULL)
		return;
	text = xasprintf("task %s: the work changes files that decide about reviews: %s; this run goes by what "
	    "they were at its submit, later runs go by what they are then", slot_task_id(slot), names);
	run_warn(txn, slot->run, text);
	free(text);
}

static void warn_of_modules(struct txn *txn, const struct slot *slot)
{
	const char *names = git_op_modules(slot->op.git);
	char *text;

	if (names == NULL)
		return;
	text = xasprintf("task %s: the work changes submodules: %s; their files are in no room, so only their commits "
	    "were judged", slot_task_id(slot), names);
	run_warn(txn, slot->run, text);
	free(text);
}

/* Checks and reviewers have these files, and no product does. */
static void take_copied(struct txn *txn, struct slot *slot)
{
	const char *now = git_op_copied(slot->op.git), *before = slot->row->copied_hash;
	char *text;

	if (now == NULL || object_is(now, before))
		return;
	if (before != NULL) {
		text = xasprintf("task %s: files that run.copy brings to the rooms were changed while an agent worked; "
		    "checks and reviewers have the changed ones, and the result has none of them", slot_task_id(slot));
		run_warn(txn, slot->run, text);
		free(text);
	}
	text_set(&txn_edit_slot(txn, slot)->copied_hash, now);
}

static void take_tree(struct txn *txn, struct slot *slot, const char *tree, int64_t patch)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	text_set(&row->tree, tree);
	row->diff = patch;
	text_set(&row->diff_hash, slot->op.patch_hash);
	product_work(txn, slot, tree, row->answer);
}

/* A pass that was held in the run that it continues is held here, too. */
static void move_continued(struct txn *txn, struct slot *slot, const struct measure_facts *facts,
    enum slot_stage to)
{
	enum round_end end = ROUND_PASS;
	char *cause = NULL;

	if (facts->earlier == EARLIER_PASS)
		end = continue_end(slot, &cause);
	if (end == ROUND_PASS)
		round_commit(txn, slot, to, NULL);
	else
		round_over(txn, slot, end, CAUSE(round_end_kind(end), cause));
	free(cause);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const char *tree = git_op_tree(slot->op.git);
	struct measure_facts facts;
	enum slot_stage to;
	int64_t known;
	bool failed;

	if (slot->row->question != NULL) {
		take_copied(txn, slot);
		take_tree(txn, slot, tree, done->step);
		question_measured(txn, slot);
		return;
	}
	facts = measured_facts(slot, tree);
	to = stage_after_measure(slot_plan(slot), &facts);
	failed = to == SLOT_S_FAILED;
	take_copied(txn, slot);
	if (!object_is(git_op_protected(slot->op.git), slot->row->protected_paths))
		text_set(&txn_edit_slot(txn, slot)->protected_paths, git_op_protected(slot->op.git));
	/* the review of the whole run says it for all */
	if (!facts.later)
		warn_of_judging(txn, slot);
	if (!facts.later && slot_has_checkout(slot))
		warn_of_modules(txn, slot);
	known = slot_begins_review(slot) ? checks_known(slot, tree, 0) : 0;
	judged_warn(txn, slot);
	measured_record(txn, slot, &facts, to);
	if (!failed)
		take_tree(txn, slot, tree, done->step);
	if (!failed && obstacle_is_there(slot) && facts.earlier != EARLIER_FINDINGS) {
		if (slot_begins_review(slot))
			round_forgo(txn, slot);
		obstacle_send_back(txn, slot);
		return;
	}
	if (continue_decides(&facts, to)) {
		continue_measured(txn, slot, &facts);
		move_continued(txn, slot, &facts, to);
		return;
	}
	if (!failed && known > 0) {
		checks_reuse(txn, slot, 0, known);
		txn_edit_slot(txn, slot)->check = known;
	}
	if (!failed && known > 0 && known == (int64_t)strings_count(slot_plan(slot)->checks))
		measured_checked(txn, slot);
	else
		measured_move(txn, slot, &facts, to);
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
