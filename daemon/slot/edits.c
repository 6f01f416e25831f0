/* SPDX-License-Identifier: MIT */
#include "slot/edits.h"

#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "core/row.h"
#include "core/state.h"
#include "git/git_op.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "slot/git_request.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* What an agent of the same round has done was not measured yet. One that was lost may have worked,
 * even if its start is not on record: a power cut may have taken that back. */
static bool round_has_begun(const struct slot *slot)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	const struct run_rows *rows = slot->run->rows;

	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *other = rows->attempts[i];

		if (other->slot == a->slot && other->iteration == a->iteration && other->role == a->role &&
		    other->round == a->round &&
		    (other->started_at != ROW_NONE || other->state == ATTEMPT_S_LOST))
			return true;
	}
	return false;
}

/* A human has had the work in hand, and sent it back as it is. */
static bool comes_from_human(const struct slot *slot)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	const struct run_rows *rows = slot->run->rows;
	int64_t before = ROW_NONE;

	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *other = rows->attempts[i];

		if (other->slot == a->slot && other->iteration == a->iteration && other->id < a->id)
			before = other->id > before ? other->id : before;
	}
	for (size_t i = 0; i < rows->nholds; i++)
		if (rows->holds[i]->attempt == before && before != ROW_NONE &&
		    rows->holds[i]->state == HOLD_S_REWORKED)
			return true;
	return false;
}

/* In a work tree there are no people, but the set-up may have made files that git does not
 * ignore. */
static bool was_set_up(const struct slot *slot)
{
	return slot->row->worktree != NULL && strings_count(slot_plan(slot)->setup) > 0 && !slot_has_work(slot);
}

/* With another base than what was on the disk, the difference is work to be reviewed. */
static bool is_shared(const struct slot *slot)
{
	if (slot->row->tree == NULL && slot->run->plan.base != NULL)
		return false;
	return slot->row->worktree == NULL && slot->run->plan.parallel == 1 && slot_has_checkout(slot);
}

bool edits_can_be_told(const struct slot *slot)
{
	return slot_starts_writing(slot) && slot->run->rows->run.evidence != NULL && slot_base_tree(slot) != NULL &&
	    (is_shared(slot) || was_set_up(slot)) && !round_has_begun(slot) && !comes_from_human(slot);
}

void edits_find(struct slot *slot)
{
	git_begin(slot, GIT_FIND_EDITS);
}

static void warn(struct txn *txn, const struct slot *slot, const char *what, const char *names)
{
	char *safe = names != NULL ? text_escape(names, strlen(names), false) : NULL, *text;

	if (names == NULL)
		return;
	if (slot->row->worktree != NULL)
		text = xasprintf("task %s: setup made files that git does not ignore, which are not part of the work: "
		    "%s", slot_task_id(slot), safe);
	else
		text = xasprintf("task %s: these files %s in %s while no agent of the run worked there, and are not "
		    "part of the work: %s", slot_task_id(slot), what, slot_workspace(slot), safe);
	run_warn(txn, slot->run, text);
	free(text);
	free(safe);
}

static void start(struct txn *txn, struct slot *slot)
{
	slot->edits_known = true;
	txn_effect(txn, EFFECT_BUILD, slot->run, slot, slot->row->attempt);
}

void edits_found(struct txn *txn, struct slot *slot)
{
	const struct git_op *git = slot->op.git;

	warn(txn, slot, "appeared", git_op_appeared(git));
	warn(txn, slot, "were changed", git_op_edited(git));
	text_set(&txn_edit_slot(txn, slot)->beside, git_op_appeared_tree(git));
	text_set(&txn_edit_slot(txn, slot)->copied_hash, git_op_copied(git));
	start(txn, slot);
}

void edits_unknown(struct txn *txn, struct slot *slot, const char *why)
{
	char *text = xasprintf("task %s: what people have changed in %s is not known, and is taken for the agent's "
	    "work: %s", slot_task_id(slot), slot_workspace(slot), why);

	run_warn(txn, slot->run, text);
	free(text);
	start(txn, slot);
}
