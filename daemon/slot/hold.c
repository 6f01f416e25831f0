/* SPDX-License-Identifier: MIT */
/* The human decision queue: a held slot waits at no cost until a user approves, rejects or
 * reworks it. */
#include "slot/hold.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/rounds.h"
#include "core/row.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "sched/permits.h"
#include "slot/hooks.h"
#include "slot/machine.h"
#include "slot/open_question.h"
#include "txn/txn.h"

static const struct hold_row *slot_hold(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;

	for (size_t i = rows->nholds; i > 0; i--) {
		const struct hold_row *hold = rows->holds[i - 1];

		if (hold->iteration == slot->row->iteration && hold->slot == slot->row->slot &&
		    (hold->state == HOLD_S_OPEN || hold->state == HOLD_S_REWORK))
			return hold;
	}
	return NULL;
}

void hold_open(struct txn *txn, struct slot *slot, enum hold_kind kind, const char *reason)
{
	struct run *run = slot->run;
	struct hold_row *hold = row_new(ROW_HOLD);

	hold->id = ++run->engine->last_hold;
	hold->run = run->rows->run.id;
	hold->task = xstrdup(slot_task_id(slot));
	hold->iteration = slot->row->iteration;
	hold->slot = slot->row->slot;
	hold->kind = (int)kind;
	hold->reason = xstrdup(reason);
	hold->attempt = slot->row->attempt;
	hold->state = HOLD_S_OPEN;
	hold->created_at = engine_now(run->engine);
	txn_add(txn, run, ROW_HOLD, hold);
	txn_emit(txn, "hold.opened", hold->run,
	    json_pack("{s:I, s:s, s:I, s:s, s:s*}", "hold", (json_int_t)hold->id, "task", hold->task,
	    "slot", (json_int_t)hold->slot, "kind", state_name(&hold_kind_names, hold->kind),
	    "reason", hold->reason));
	hook_add_hold(txn, run, hold);
	queue_note(txn, run);
}

void hold_set_state(struct txn *txn, struct slot *slot, const struct hold_row *row,
    enum hold_state state, const char *by, const char *message)
{
	struct hold_row *hold = txn_edit_hold(txn, row);
	bool was_open = hold->state == HOLD_S_OPEN;

	hold->state = (int)state;
	if (by != NULL) {
		text_set(&hold->decided_by, by);
		hold->decided_at = engine_now(slot->run->engine);
		/* it may have waited for weeks: ask its source again */
		slot->run->asked = SIZE_MAX;
	}
	if (message != NULL)
		text_set(&hold->message, message);
	queue_note(txn, slot->run);
	if (was_open)
		txn_emit(txn, "hold.closed", hold->run,
		    json_pack("{s:I, s:s, s:I, s:s, s:s*, s:s*}", "hold", (json_int_t)hold->id,
		    "task", hold->task, "slot", (json_int_t)hold->slot, "state",
		    state_name(&hold_state_names, (int)state),
		    "by", hold->decided_by, "message", hold->message));
}

void hold_close(struct txn *txn, struct slot *slot, enum hold_state state, const char *by, const char *message)
{
	const struct hold_row *hold = slot_hold(slot);

	if (hold != NULL)
		hold_set_state(txn, slot, hold, state, by, message);
}

bool hold_is_silent(const char *message)
{
	return message == NULL || message[strspn(message, " \t\r\n")] == '\0';
}

static void set_message(struct slot_row *row, const char *message)
{
	free(row->message);
	row->message = hold_is_silent(message) ? NULL : xstrdup(message);
}

/* Continue the slot of a hold after rework: its attempt again, another review, or a fix with the
 * human's message and as many rounds as the plan permits. */
void hold_go_on(struct txn *txn, struct slot *slot, const struct hold_row *hold)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct plan *plan = slot_plan(slot);
	struct move_why why = { 0 };
	enum role role = hold->kind == HOLD_QUESTION ? question_role(row) : hold->attempt != ROW_NONE ?
	    (enum role)run_attempt(slot->run, hold->attempt)->role : ROLE_IMPLEMENT;
	/* there is no finding: without a message for a fixer it is judged once more */
	bool panel = hold->attempt != ROW_NONE && run_attempt(slot->run, hold->attempt)->reviewer != NULL;
	bool review = hold_reviews((enum hold_kind)hold->kind) && hold_is_silent(hold->message);
	enum slot_stage judges = review ? stage_after_work((int64_t)strings_count(plan->checks),
	    slot->run->rows->run.has_git == 1, plan_checks_room(plan)) : SLOT_S_HELD;
	char *rounds;

	hold_set_state(txn, slot, hold, HOLD_S_REWORKED, NULL, NULL);
	row->stalled = row->hook_changes = 0;
	rounds = rounds_restart(row->rounds, row->fix);
	free(row->rounds);
	row->rounds = rounds;
	row->setup = hold->kind == HOLD_SETUP ? 0 : row->setup;
	if (hold->kind == HOLD_LOST && panel) {
		;	/* its voter continues: panel_begin() */
	} else if (hold->kind == HOLD_LOST && role == ROLE_SETUP) {
		row->setup_lost = 1;
	} else if (hold->kind == HOLD_LOST) {
		row->interrupted = 1;
	} else if (!review && !hold_repeats((enum hold_kind)hold->kind)) {
		row->fixes = row->fix + (plan->max_fixes > 0 ? plan->max_fixes : 1);
		row->fix++;
		row->item = 0;
	}
	/* an attempt of a review continues with its original instructions */
	if (hold->kind == HOLD_QUESTION && (row->reply != NULL || hold_is_silent(hold->message)))
		;
	else if (!hold_repeats((enum hold_kind)hold->kind) || role == ROLE_IMPLEMENT || hold->kind == HOLD_QUESTION)
		set_message(row, hold->message);
	why.reason = hold_repeats((enum hold_kind)hold->kind) ? MOVE_RETRY : MOVE_DONE;
	slot_move(txn, slot, SLOT_S_HELD,
	    stage_after_rework((enum hold_kind)hold->kind, role, slot_has_checkout(slot), panel, judges), &why);
}

void hold_resume(struct txn *txn, struct run *run)
{
	for (size_t i = 0; i < run->nslots; i++) {
		const struct hold_row *hold = slot_hold(run->slots[i]);

		if (hold != NULL && hold->state == HOLD_S_REWORK)
			hold_go_on(txn, run->slots[i], hold);
	}
}
