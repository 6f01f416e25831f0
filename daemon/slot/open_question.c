/* SPDX-License-Identifier: MIT */
#include "slot/open_question.h"

#include <jansson.h>
#include <stdlib.h>

#include "core/cause.h"
#include "core/plan.h"
#include "core/state.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/machine.h"
#include "txn/txn.h"

void question_take(struct txn *txn, struct slot *slot, const char *text)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct attempt_row *a = run_attempt(slot->run, row->attempt);

	text_set(&row->question, text);
	text_set(&row->reply, NULL);
	row->question_attempt = a->id;
	txn_emit(txn, "question", row->run, json_pack("{s:I, s:s, s:I, s:s, s:s}", "slot", (json_int_t)row->slot,
	    "task", slot_task_id(slot), "attempt", (json_int_t)a->id, "by", a->agent, "question", text));
}

void question_over(struct txn *txn, struct slot *slot)
{
	struct slot_row *row;

	if (slot->row->question == NULL)
		return;
	row = txn_edit_slot(txn, slot);
	text_set(&row->question, NULL);
	text_set(&row->reply, NULL);
	row->question_attempt = ROW_NONE;
}

void question_hold(struct txn *txn, struct slot *slot)
{
	char *text = xstrdup(slot->row->question);

	slot_move(txn, slot, slot_stage(slot), SLOT_S_HELD,
	    &(struct move_why){ .cause = CAUSE(END_QUESTION, text), .hold = HOLD_QUESTION });
	free(text);
}

void question_measured(struct txn *txn, struct slot *slot)
{
	if (slot->row->reply == NULL)
		question_hold(txn, slot);
	else
		slot_move(txn, slot, slot_stage(slot), slot_role_stage(question_role(slot->row)),
		    &(struct move_why){ .reason = MOVE_RETRY });
}

enum role question_role(const struct slot_row *row)
{
	return row->fix > 0 ? ROLE_FIX : ROLE_IMPLEMENT;
}

bool question_goes_on(const struct slot *slot, const struct attempt_row *a)
{
	if (slot->row->question_attempt == ROW_NONE || slot->row->reply == NULL)
		return false;
	while (a->resumes != ROW_NONE && a->id != slot->row->question_attempt)
		a = run_attempt(slot->run, a->resumes);
	return a->id == slot->row->question_attempt;
}
