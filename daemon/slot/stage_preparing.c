/* SPDX-License-Identifier: MIT */
/* PREPARING: git copies the ignored files that the plan names into a new work tree or room, and
 * restores its tracked files: before the set-up, and after it. */
#include <stdlib.h>

#include "core/next_stage.h"
#include "core/row.h"
#include "git/git_op.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/base_check.h"
#include "slot/continue.h"
#include "slot/git_request.h"
#include "slot/stages.h"
#include "txn/emit.h"
#include "txn/txn.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

static void warn_restored(struct txn *txn, struct slot *slot, const char *paths)
{
	char *text = xasprintf("task %s: setup changed tracked files, which were restored: %s",
	    slot_task_id(slot), paths);

	run_warn(txn, slot->run, text);
	free(text);
}

/* The work's room comes after the base's, and is the last. */
static enum prepares_state prepares_after(enum prepares_state now, enum slot_stage to)
{
	if (to == SLOT_S_SETTING_UP)
		return now;
	if (to != SLOT_S_CHECKOUT)
		return PREPARES_WORK;
	return now == PREPARES_BASE ? PREPARES_WORK_AGAIN : PREPARES_BASE;
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct prepare_facts facts = {
		.setup = row->setup,
		.room = slot_prepares_room(slot),
		.whole = row->slot == 0,
		.ready = git_op_ready(slot->op.git),
		.unprepared = git_op_unprepared(slot->op.git),
		.prepares = (enum prepares_state)row->prepares,
		.checked = row->check,
	};

	enum slot_stage to = stage_after_preparing(slot_plan(slot), &facts);

	(void)done;
	if (row->setup > 0 && git_op_changed(slot->op.git) != NULL)
		warn_restored(txn, slot, git_op_changed(slot->op.git));
	if (git_op_copied(slot->op.git) != NULL)
		text_set(&row->copied_hash, git_op_copied(slot->op.git));
	row->setup = 0;
	row->prepares = prepares_after(facts.prepares, to);
	slot_move(txn, slot, SLOT_S_PREPARING, base_before_work(txn, slot,
	    continue_before_work(txn, slot, to)), NULL);
}

static void recover(struct slot *slot)
{
	git_begin(slot, GIT_PREPARE);
}

const struct stage stage_preparing = {
	.git = GIT_PREPARE,
	.enter = enter,
	.result = result,
	.recover = recover,
};
