/* SPDX-License-Identifier: MIT */
#include "slot/panel.h"

#include <string.h>

#include "core/plan.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/kinds.h"
#include "proto/memory.h"
#include "slot/machine.h"
#include "slot/panel_votes.h"
#include "slot/review_rows.h"
#include "txn/txn.h"

/* ---- voters ---- */

/* Voters are numbered from the top, below the baseline. */
static int64_t vacant(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;
	int64_t number = SLOT_BASELINE;

	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->iteration == slot->row->iteration && rows->slots[i]->voter_of != ROW_NONE &&
		    rows->slots[i]->slot < number)
			number = rows->slots[i]->slot;
	return number - 1;
}

/* What is under review, and nothing of what has become of it. */
static void fill(struct slot_row *row, const struct slot *slot, int64_t number, const char *reviewer)
{
	const struct slot_row *work = slot->row;

	row_release(ROW_SLOT, row);
	row_init(ROW_SLOT, row);
	slot_row_init(row, slot->run, number, work->task);
	row->iteration = work->iteration;
	row->voter_of = work->slot;
	row->reviewer = xstrdup(reviewer);
	row->worktree = xstrdup(work->worktree);
	row->base_commit = xstrdup(work->base_commit);
	row->base_tree = xstrdup(work->base_tree);
	row->head = xstrdup(work->head);
	row->head_at = xstrdup(work->head_at);
	row->protected_paths = xstrdup(work->protected_paths);
	row->round = work->round;
	row->fix = work->fix;
	row->fixes = work->fixes;
	row->answer = work->answer;
	row->earlier_answer = work->earlier_answer;
	row->again = work->again;
	row->answer_hash = xstrdup(work->answer_hash);
	row->tree = xstrdup(work->tree);
	row->product = work->product;
	row->beside = xstrdup(work->beside);
	row->diff = work->diff;
	row->diff_hash = xstrdup(work->diff_hash);
	row->copied_hash = xstrdup(work->copied_hash);
	row->message = xstrdup(work->message);
	/* they have run */
	row->check = (int64_t)strings_count(slot_plan(slot)->checks);
}

static struct slot *voter_at(struct slot *slot, const struct slot_row *row)
{
	struct run *run = slot->run;
	struct slot *voter = run_slot(run, row->iteration, row->slot);

	if (voter != NULL)
		return voter;
	run_add_slot(run, row);
	return run->slots[run->nslots - 1];
}

static struct slot *voter_begin(struct txn *txn, struct slot *slot, const char *reviewer)
{
	const struct slot_row *known = panel_voter(slot, reviewer);
	struct slot *voter;
	struct slot_row *row;

	if (known == NULL) {
		row = row_new(ROW_SLOT);
		fill(row, slot, vacant(slot), reviewer);
		txn_add(txn, slot->run, ROW_SLOT, row);
		voter = voter_at(slot, row);
	} else {
		voter = voter_at(slot, known);
		row = txn_edit_slot(txn, voter);
		fill(row, slot, known->slot, reviewer);
		slot_load_plan(voter);
	}
	/* a human has sent a lost one back */
	if (panel_was_lost(slot, reviewer, ROLE_REVIEW))
		row->interrupted = 1;
	if (panel_was_lost(slot, reviewer, ROLE_SETUP))
		row->setup_lost = 1;
	slot_move(txn, voter, SLOT_S_WAITING, SLOT_S_CHECKOUT, NULL);
	return voter;
}

/* ---- the slot ---- */

void panel_begin(struct txn *txn, struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);
	struct slot *first = NULL;

	for (size_t i = 0; i < plan->nreviewers; i++) {
		struct slot *voter;

		if (panel_vote_row(slot, plan->reviewers[i].name) != NULL)
			continue;
		voter = voter_begin(txn, slot, plan->reviewers[i].name);
		first = first != NULL ? first : voter;
	}
	if (first == NULL) {
		txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
		return;
	}
	/* the others want one each */
	first->has_permit = slot->has_permit;
	slot->has_permit = false;
	activity_wait(&slot->activity, ACTIVITY_PANEL);
}

static bool is_at_work(const struct slot *voter)
{
	return !slot_stage_is_end(slot_stage(voter)) && slot_stage(voter) != SLOT_S_HELD;
}

bool panel_is_at_work(const struct slot *slot)
{
	for (size_t i = 0; i < slot->run->nslots; i++) {
		const struct slot *voter = slot->run->slots[i];

		if (voter->row->voter_of == slot->row->slot && voter->row->iteration == slot->row->iteration &&
		    is_at_work(voter))
			return true;
	}
	return false;
}

void panel_voter_ended(struct txn *txn, struct slot *voter)
{
	struct slot *slot = run_slot(voter->run, voter->row->iteration, voter->row->voter_of);

	if (slot == NULL || slot_stage(slot) != SLOT_S_PANEL || slot->activity.kind != ACTIVITY_PANEL ||
	    panel_is_at_work(slot))
		return;
	/* it continues with it */
	if (!slot->has_permit) {
		slot->has_permit = voter->has_permit;
		voter->has_permit = false;
	}
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

void panel_vote(struct txn *txn, struct slot *voter, enum vote vote, const char *text, const struct verdict *v)
{
	review_vote(txn, voter, panel_word(slot_plan(voter)->profile, vote), text, v);
	slot_move(txn, voter, slot_stage(voter), SLOT_S_PASSED, NULL);
}
