/* SPDX-License-Identifier: MIT */
/* The human decision queue: a held slot waits at no cost until somebody approves, rejects or sends it back. */
#include "slot/hold.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/budget.h"
#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/model.h"
#include "model/reply.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "run/lifecycle.h"
#include "sched/spending.h"
#include "slot/hooks.h"
#include "slot/machine.h"
#include "slot/review_rows.h"
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
	txn_emit(txn, "hold.opened", hold->run, json_pack("{s:I, s:s, s:I, s:s, s:s*}", "hold", (json_int_t)hold->id, "task", hold->task,
	    "slot", (json_int_t)hold->slot, "kind", state_name(&hold_kind_names, hold->kind), "reason", hold->reason));
	hook_add(txn, run, "on_hold", run->plan.on_hold, hold);
}

static void set_state(struct txn *txn, struct slot *slot, const struct hold_row *row, enum hold_state state, const char *by,
    const char *message)
{
	struct hold_row *hold = txn_edit_hold(txn, row);
	bool was_open = hold->state == HOLD_S_OPEN;

	hold->state = (int)state;
	if (by != NULL) {
		text_set(&hold->decided_by, by);
		hold->decided_at = engine_now(slot->run->engine);
		slot->run->drained = false;	/* it may have waited for weeks: its source is asked anew */
	}
	if (message != NULL)
		text_set(&hold->message, message);
	if (was_open)
		txn_emit(txn, "hold.closed", hold->run, json_pack("{s:I, s:s, s:I, s:s, s:s*, s:s*}", "hold", (json_int_t)hold->id,
		    "task", hold->task, "slot", (json_int_t)hold->slot, "state", state_name(&hold_state_names, (int)state),
		    "by", hold->decided_by, "message", hold->message));
}

void hold_close(struct txn *txn, struct slot *slot, enum hold_state state, const char *by, const char *message)
{
	const struct hold_row *hold = slot_hold(slot);

	if (hold != NULL)
		set_state(txn, slot, hold, state, by, message);
}

static void set_message(struct slot_row *row, const char *message)
{
	free(row->message);
	row->message = message != NULL && message[strspn(message, " \t\r\n")] != '\0' ? xstrdup(message) : NULL;
}

/* The slot of a hold that was sent back goes on: the lost attempt again, or a fix with the human's text and as many rounds
 * as the plan gives. */
static void go_on(struct txn *txn, struct slot *slot, const struct hold_row *hold)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct plan *plan = slot_plan(slot);
	struct move_why why = { 0 };
	enum role role = hold->attempt != ROW_NONE ? (enum role)run_attempt(slot->run, hold->attempt)->role : ROLE_IMPLEMENT;

	set_state(txn, slot, hold, HOLD_S_REWORKED, NULL, NULL);
	row->stalled = 0;
	if (hold->kind == HOLD_LOST) {
		row->interrupted = 1;
	} else {
		row->fixes = row->fix + (plan->max_fixes > 0 ? plan->max_fixes : 1);
		row->fix++;
		row->item = 0;
	}
	/* whoever was lost in the middle of a review goes on with what it was asked for */
	if (hold->kind != HOLD_LOST || role == ROLE_IMPLEMENT)
		set_message(row, hold->message);
	why.reason = hold->kind == HOLD_LOST ? MOVE_RETRY : MOVE_DONE;
	slot_move(txn, slot, SLOT_S_HELD, stage_after_rework((enum hold_kind)hold->kind, role, slot_has_checkout(slot)), &why);
}

void hold_resume(struct txn *txn, struct run *run)
{
	for (size_t i = 0; i < run->nslots; i++) {
		const struct hold_row *hold = slot_hold(run->slots[i]);

		if (hold != NULL && hold->state == HOLD_S_REWORK)
			go_on(txn, run->slots[i], hold);
	}
}

static void rework(struct txn *txn, struct slot *slot, const struct hold_row *hold, const char *by, const char *message)
{
	struct run *run = slot->run;

	set_state(txn, slot, hold, HOLD_S_REWORK, by, message);
	if (run->rows->run.state == RUN_S_RUNNING)
		go_on(txn, slot, hold);
	else if (run->rows->run.state == RUN_S_HELD)
		run_event(txn, run, RUN_E_REWORK, NO_CAUSE);
}

/* "accepted: human:ann: looks right" */
static char *cause_of(const char *what, const char *by, const char *message)
{
	return xasprintf("%s%s%s%s", what, by, message != NULL && message[0] != '\0' ? ": " : "", message != NULL ? message : "");
}

static void approve(struct txn *txn, struct slot *slot, const char *by, const char *message)
{
	struct run *run = slot->run;
	enum slot_stage to = stage_after_acceptance(slot_plan(slot), run->rows->run.has_git == 1);
	bool commit = to == SLOT_S_MEASURING;
	char *cause = cause_of("accepted: ", by, message);

	hold_close(txn, slot, HOLD_S_APPROVED, by, message);
	review_human(txn, slot, "accepted", by, message);
	/* a commit needs no attempt, or asks for one that waits for the end of the pause */
	if (commit && run->rows->run.state == RUN_S_HELD && run->rows->run.paused == 1)
		run_event(txn, run, RUN_E_PAUSE, CAUSE(END_NONE, "paused"));
	else if (commit && run->rows->run.state == RUN_S_HELD)
		run_event(txn, run, RUN_E_BACK, NO_CAUSE);
	slot_move(txn, slot, SLOT_S_HELD, to, &(struct move_why){ .reason = MOVE_ACCEPTED, .cause = CAUSE(END_APPROVED, cause) });
	free(cause);
}

static void reject(struct txn *txn, struct slot *slot, const char *by, const char *message)
{
	char *cause = cause_of("rejected by ", by, message);

	hold_close(txn, slot, HOLD_S_REJECTED, by, message);
	review_human(txn, slot, "rejected", by, message);
	slot_fail(txn, slot, CAUSE(END_REJECTED, cause));
	free(cause);
}

/* Why the decision cannot be made; RPC_OK: it can. spent: why nothing more of its run is started, "": it is. */
static int refusal(const struct hold_row *hold, enum hold_decision decision, const char *message, const char *spent, struct engine_reply *reply)
{
	if (hold->state != HOLD_S_OPEN) {
		reply->message = "this hold has been decided already";
		reply->hint = "rlctl hold show tells by whom";
		return RPC_WRONG_STATE;
	}
	if (hold->kind == HOLD_LOST && decision == HOLD_APPROVE) {
		reply->message = "the attempt is lost: there is nothing to approve";
		reply->hint = "rework runs it again, reject fails the task";
		return RPC_WRONG_STATE;
	}
	if (hold->kind != HOLD_LOST && decision == HOLD_REWORK && (message == NULL || message[strspn(message, " \t\r\n")] == '\0')) {
		reply->message = "rework needs a message: it is what the fixer is told";
		reply->hint = "say what is to be done, with -m TEXT";
		reply->field = "message";
		return RPC_INVALID_PARAMS;
	}
	/* it would fail at once, and could be approved no more */
	if (decision == HOLD_REWORK && spent[0] != '\0') {
		reply->message = spent;
		reply->hint = hold->kind == HOLD_LOST ? "nothing more of its run is started: reject it; rlctl retry begins a run with a budget of its own" :
		    "nothing more of its run is started: approve or reject it as it is; rlctl retry begins a run with a budget of its own";
		return RPC_WRONG_STATE;
	}
	return RPC_OK;
}

void engine_hold(struct engine *engine, int64_t id, enum hold_decision decision, const char *by, const char *message, bool check,
    engine_reply_cb *cb, void *arg)
{
	const struct run_rows *rows = view_run_of_hold(engine->view, id);
	struct run *run = rows != NULL ? run_find(engine, rows->run.id) : NULL;
	struct engine_reply reply = { .id = rows != NULL ? rows->run.id : ROW_NONE, .rows = rows };
	const struct hold_row *hold = NULL;
	struct slot *slot = NULL;
	struct txn *txn;
	char *human, spent[RUN_SPENT_MAX];

	for (size_t i = 0; run != NULL && i < run->rows->nholds; i++)
		if (run->rows->holds[i]->id == id)
			hold = run->rows->holds[i];
	if (hold != NULL)
		slot = run_slot(run, hold->iteration, hold->slot);
	if (slot == NULL) {
		reply.code = RPC_NOT_FOUND;
		reply.message = "there is no such open hold";
		reply.hint = "rlctl hold list shows them";
	} else if (engine->full) {
		reply.code = RPC_NO_SPACE;
		reply.message = "no space left for the database";
		reply.hint = "make room on the disk of the state directory";
	} else {
		run_spent(run, spent);
		reply.code = refusal(hold, decision, message, spent, &reply);
	}
	if (reply.code != RPC_OK || check) {
		cb(arg, &reply);
		return;
	}
	txn = txn_new(engine);
	human = xasprintf("human:%s", by);
	switch (decision) {
	case HOLD_APPROVE:
		approve(txn, slot, human, message);
		break;
	case HOLD_REJECT:
		reject(txn, slot, human, message);
		break;
	case HOLD_REWORK:
		rework(txn, slot, hold, human, message);
		break;
	}
	free(human);
	txn_reply(txn, cb, arg, run->rows->run.id);
	txn_commit(txn);
}
