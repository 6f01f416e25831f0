/* SPDX-License-Identifier: MIT */
#include "run/hold_decision.h"

#include <stdlib.h>
#include <string.h>

#include "core/budget.h"
#include "core/cause.h"
#include "core/next_stage.h"
#include "core/row.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "evidence/evidence.h"
#include "model/model.h"
#include "model/reply.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "run/lifecycle.h"
#include "sched/spending.h"
#include "slot/hold.h"
#include "slot/machine.h"
#include "slot/open_question.h"
#include "slot/review_rows.h"
#include "txn/txn.h"

static void rework(struct txn *txn, struct slot *slot, const struct hold_row *hold, const char *by, const char *message)
{
	struct run *run = slot->run;

	hold_set_state(txn, slot, hold, HOLD_S_REWORK, by, message);
	/* without a result there is nothing to judge */
	if (hold->kind != HOLD_LOST && hold->kind != HOLD_QUESTION &&
	    !(hold_reviews((enum hold_kind)hold->kind) && hold_is_silent(message)))
		evidence_rework(txn, slot, by);
	if (run->rows->run.state == RUN_S_RUNNING)
		hold_go_on(txn, slot, hold);
	else if (run->rows->run.state == RUN_S_HELD)
		run_event(txn, run, RUN_E_REWORK, NO_CAUSE);
}

/* As rework does, but its agent continues with the answer. */
static void answer(struct txn *txn, struct slot *slot, const struct hold_row *hold, const char *by, const char *message)
{
	text_set(&txn_edit_slot(txn, slot)->reply, message);
	rework(txn, slot, hold, by, message);
}

/* "accepted: human:ann: looks right" */
static char *cause_of(const char *what, const char *by, const char *message)
{
	return xasprintf("%s%s%s%s", what, by, message != NULL && message[0] != '\0' ? ": " : "",
	    message != NULL ? message : "");
}

static void approve(struct txn *txn, struct slot *slot, const struct hold_row *hold, const char *by,
    const char *message)
{
	struct run *run = slot->run;
	const struct plan *plan = slot_plan(slot);
	enum slot_stage to = stage_after_approval(plan, (enum hold_kind)hold->kind, run->rows->run.has_git == 1);
	bool commit = to != SLOT_S_PASSED, pass = hold_of_pass((enum hold_kind)hold->kind);
	char *cause = cause_of("accepted: ", by, message);

	hold_close(txn, slot, HOLD_S_APPROVED, by, message);
	question_over(txn, slot);
	review_human(txn, slot, pass ? plan->profile->pass_word : REVIEW_ACCEPTED, by, message, NULL);
	/* a commit needs no attempt, or one that waits for the end of the pause */
	if (commit && run->rows->run.state == RUN_S_HELD && run->rows->run.paused == 1)
		run_event(txn, run, RUN_E_PAUSE, CAUSE(END_NONE, "paused"));
	else if (commit && run->rows->run.state == RUN_S_HELD)
		run_event(txn, run, RUN_E_BACK, NO_CAUSE);
	if (pass)
		slot_move(txn, slot, SLOT_S_HELD, to, NULL);
	else
		slot_move(txn, slot, SLOT_S_HELD, to,
		    &(struct move_why){ .reason = MOVE_ACCEPTED, .cause = CAUSE(END_APPROVED, cause) });
	free(cause);
}

static void reject(struct txn *txn, struct slot *slot, const char *by, const char *message)
{
	char *cause = cause_of("rejected by ", by, message);

	hold_close(txn, slot, HOLD_S_REJECTED, by, message);
	review_human(txn, slot, REVIEW_REJECTED, by, message, NULL);
	slot_fail(txn, slot, CAUSE(END_REJECTED, cause));
	free(cause);
}

/* Why the decision is refused; RPC_OK: it is not. spent: why its run starts nothing any more, "":
 * it does. */
static int refusal(const struct hold_row *hold, enum hold_decision decision, const char *message,
    const char *spent, struct engine_reply *reply)
{
	if (hold->state != HOLD_S_OPEN) {
		reply->message = "this hold was decided already";
		reply->hint = "see rlctl hold show";
		return RPC_WRONG_STATE;
	}
	if (hold->kind == HOLD_LOST && decision == HOLD_APPROVE) {
		reply->message = "the attempt is lost: there is nothing to approve";
		reply->hint = "rework runs it again, reject fails the task";
		return RPC_WRONG_STATE;
	}
	if (hold->kind == HOLD_SETUP && decision == HOLD_APPROVE) {
		reply->message = "the set-up failed: there is nothing to approve";
		reply->hint = "rework runs it again, reject fails the task";
		return RPC_WRONG_STATE;
	}
	if (decision == HOLD_ANSWER && hold->kind != HOLD_QUESTION) {
		reply->message = "nothing was asked";
		reply->hint = "approve, reject or rework it; see rlctl hold show";
		return RPC_WRONG_STATE;
	}
	if (decision == HOLD_ANSWER && hold_is_silent(message)) {
		reply->message = "an answer needs a text";
		reply->hint = "give it with -m TEXT";
		reply->field = "message";
		return RPC_INVALID_PARAMS;
	}
	if (!hold_repeats((enum hold_kind)hold->kind) && !hold_reviews((enum hold_kind)hold->kind) &&
	    decision == HOLD_REWORK &&
	    hold_is_silent(message)) {
		reply->message = "rework needs a message for the fixer";
		reply->hint = "give instructions with -m TEXT";
		reply->field = "message";
		return RPC_INVALID_PARAMS;
	}
	/* it would fail immediately, and could no longer be approved */
	if ((decision == HOLD_REWORK || decision == HOLD_ANSWER) && spent[0] != '\0') {
		reply->message = spent;
		reply->hint = hold->kind == HOLD_LOST || hold->kind == HOLD_SETUP ?
		    "its run starts nothing any more: reject it; rlctl retry starts a run with a "
		    "new budget" :
		    "its run starts nothing any more: approve or reject it as it is; rlctl retry "
		    "starts a run with a new budget";
		return RPC_WRONG_STATE;
	}
	return RPC_OK;
}

static void set_decider(struct hold_row *hold, const struct decider *by)
{
	hold->by_uid = by->uid;
	hold->by_pid = by->pid;
	hold->by_attempt = by->attempt;
}

void engine_hold(struct engine *engine, int64_t id, enum hold_decision decision, const struct decider *by,
    const char *message, bool check, engine_reply_cb *cb, void *arg)
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
		reply.message = "no such open hold";
		reply.hint = "see rlctl hold list";
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
	human = xasprintf("human:%s", by->name);
	set_decider(txn_edit_hold(txn, hold), by);
	switch (decision) {
	case HOLD_APPROVE:
		approve(txn, slot, hold, human, message);
		break;
	case HOLD_REJECT:
		reject(txn, slot, human, message);
		break;
	case HOLD_REWORK:
		rework(txn, slot, hold, human, message);
		break;
	case HOLD_ANSWER:
		answer(txn, slot, hold, human, message);
		break;
	}
	free(human);
	txn_reply(txn, cb, arg, run->rows->run.id);
	txn_commit(txn);
}
