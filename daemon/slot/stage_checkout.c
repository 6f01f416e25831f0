/* SPDX-License-Identifier: MIT */
/* CHECKOUT: with workspace = "room" the measured tree is laid out in a directory of its own, in
 * which its checks and its reviewer work. */
#include <stdlib.h>

#include "core/next_stage.h"
#include "core/plan.h"
#include "core/remedy.h"
#include "core/row.h"
#include "core/state.h"
#include "evidence/check_evidence.h"
#include "git/git_op.h"
#include "model/activity.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/git_request.h"
#include "slot/machine.h"
#include "slot/stages.h"
#include "slot/train_ride.h"
#include "txn/txn.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)why;
	if (from != SLOT_S_MERGING || !train_join(txn, slot))
		txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

/* Checks that were green in another run need not run. One that has the first word about work that
 * changed nothing does. */
static void skip_known(struct txn *txn, struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	int64_t known;

	if (row->base == BASE_CHECKING || row->prepares == PREPARES_BASE ||
	    (row->answer != ROW_NONE && run_attempt(slot->run, row->answer)->outcome == TASK_R_NO_CHANGE))
		return;
	known = checks_known(slot, row->tree, row->check);
	checks_reuse(txn, slot, row->check, known);
	row->check = known;
}

/* For a check that fails there. */
static void take_remedy(struct txn *txn, struct slot *slot)
{
	/* settings are relative to the working directory */
	const char *subdir = slot->run->rows->run.subdir;
	char **ignored = remedy_below(git_op_ignored(slot->op.git), subdir),
	    **manifests = remedy_below(git_op_manifests(slot->op.git), subdir);
	char *text = remedy_text(ignored, manifests, strings_count(slot_plan(slot)->setup) > 0, slot_plan(slot)->copy);

	text_set(&txn_edit_slot(txn, slot)->remedy, text);
	free(text);
	strings_free(manifests);
	strings_free(ignored);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	(void)done;
	if (slot->row->base == BASE_CHECKING)
		take_remedy(txn, slot);
	skip_known(txn, slot);
	slot_move(txn, slot, SLOT_S_CHECKOUT, stage_after_checkout(slot_plan(slot), slot->row->check,
	    slot_checks_merge(slot) && slot->row->base != BASE_CHECKING), NULL);
}

static void go_on(struct slot *slot)
{
	struct txn *txn;

	if (!slot_ending(slot)) {
		git_begin(slot, GIT_CHECKOUT);
		return;
	}
	txn = txn_new(slot->run->engine);
	slot_ended(txn, slot);
	txn_commit(txn);
}

static void recover(struct slot *slot)
{
	/* what it checks on the base, it has begun after its turn */
	if (slot->row->base != BASE_CHECKING && !train_look(slot))
		return;
	activity_start_job(&slot->activity);
	if (slot->row->base == BASE_CHECKING || !checks_ask(slot, slot->row->tree, go_on))
		git_begin(slot, GIT_CHECKOUT);
}

const struct stage stage_checkout = {
	.git = GIT_CHECKOUT,
	.enter = enter,
	.result = result,
	.recover = recover,
};
