/* SPDX-License-Identifier: MIT */
/* Interrupted attempts: how the next one continues their work, and when it starts. */
#include "slot/retry.h"

#include <string.h>

#include "core/backoff.h"
#include "core/review.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "sched/accounts.h"
#include "slot/machine.h"
#include "slot/open_question.h"
#include "slot/wait.h"
#include "txn/txn.h"

const struct attempt_row *attempt_interrupted(const struct slot *slot, const struct attempt_row *a)
{
	const struct attempt_row *before = NULL;

	for (size_t i = 0; i < slot->run->rows->nattempts; i++) {
		const struct attempt_row *other = slot->run->rows->attempts[i];

		/* nothing is left of an attempt that never started; the set-up of a new room
		 * interrupts nothing */
		if (other->id < a->id && other->iteration == a->iteration && other->slot == a->slot &&
		    text_equal(other->reviewer, a->reviewer) &&
		    other->process != PROCESS_NOT_STARTED && (other->role != ROLE_SETUP || a->role == ROLE_SETUP))
			before = other;
	}
	/* an attempt that failed permanently has no successor with the same work */
	return before != NULL && before->role == a->role && before->round == a->round &&
	    before->outcome == TASK_R_FAILED ? before : NULL;
}

/* Whether a resumed a conversation and failed by itself. A temporary failure of its service
 * says nothing about the conversation, which may nevertheless be the reason: so the last try
 * is one without it. */
static bool has_failed_to_resume(const struct slot *slot, const struct attempt_row *a)
{
	const struct slot_row *row = slot->row;

	if (a->provider == PROVIDER_ERROR && row->retry_at != ROW_NONE && row->retries < slot_plan(slot)->retries)
		return false;
	return a->resumes != ROW_NONE && a->state == ATTEMPT_S_EXITED &&
	    (a->provider == PROVIDER_OK || a->provider == PROVIDER_UNKNOWN ||
	    a->provider == PROVIDER_ERROR);
}

int64_t attempt_resumes(const struct slot *slot, const struct attempt_row *a)
{
	const struct plan *plan = slot_plan(slot);
	const struct agent_plan *agent = plan_agent(plan, (enum role)a->role, a->agent);
	const struct attempt_row *from = attempt_interrupted(slot, a);

	if (role_is_command((enum role)a->role) || strings_count(agent->resume) == 0)
		return ROW_NONE;
	if (from != NULL && has_failed_to_resume(slot, from))
		return ROW_NONE;
	if (from == NULL && slot->row->reply != NULL && slot->row->question_attempt != ROW_NONE)
		from = run_attempt(slot->run, slot->row->question_attempt);
	/* a fixer may resume the conversation of the answer under review */
	if (from == NULL && a->role == ROLE_FIX && plan->fixer == FIXER_RESUME && slot->row->answer != ROW_NONE)
		from = run_attempt(slot->run, slot->row->answer);
	if (from == NULL && a->role == ROLE_REVIEW && slot->row->asked != ROW_NONE)
		from = run_attempt(slot->run, slot->row->asked);
	/* one that was interrupted before it named the conversation it resumed */
	while (from != NULL && from->session == NULL && from->resumes != ROW_NONE)
		from = run_attempt(slot->run, from->resumes);
	return from != NULL && from->session != NULL && strcmp(from->agent, a->agent) == 0 ? from->id : ROW_NONE;
}

bool attempt_is_asked(const struct slot *slot, const struct attempt_row *a)
{
	if (a->role != ROLE_REVIEW || slot->row->asked == ROW_NONE)
		return false;
	while (a->resumes != ROW_NONE && a->id != slot->row->asked)
		a = run_attempt(slot->run, a->resumes);
	return a->id == slot->row->asked;
}

/* Refused by its service or the host. Of the slot's counters only that of such tries changes. */
void attempt_begin_again(struct txn *txn, struct slot *slot, const struct attempt_row *a,
    const struct attempt_facts *facts, enum slot_stage to, int fault, const char *words)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	enum again again = attempt_again(facts);

	if (again == AGAIN_COOL) {
		text_set(&row->cooling, a->account);
		account_exhausted(txn, slot->run->engine, a, facts->reset_at, words);
	} else if (again == AGAIN_RETRY) {
		row->retries++;
		row->retry_at = backoff_until(facts->now, row->retries, facts->reset_at, a->uuid);
	} else if (again == AGAIN_NODE) {
		row->retry_at = facts->now;	/* its work has begun, see slot_row_phase() */
	}
	slot_move(txn, slot, slot_stage(slot), to, &(struct move_why){ .reason = MOVE_RETRY });
	if (again == AGAIN_HOST) {
		slot_waits(txn, slot, WAIT_HOST, fault, words);
		row->retry_at = row->wait_until;
	}
}

enum on_lost attempt_on_lost(const struct slot *slot, const struct attempt_row *a)
{
	enum on_lost policy = slot_plan(slot)->on_lost;

	if (slot_is_baseline(slot))
		return ON_LOST_RETRY;
	return policy == ON_LOST_RETRY && a->launcher != NULL &&
	    (slot->lost || slot->record.cancelled != EXIT_CANCEL_DONE) ? ON_LOST_HOLD : policy;
}
