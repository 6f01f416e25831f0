/* SPDX-License-Identifier: MIT */
#include "slot/attempt.h"

#include <jansson.h>

#include "base/log.h"
#include "core/cause.h"
#include "core/plan.h"
#include "core/review.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proc/inspect.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "sched/spending.h"
#include "slot/machine.h"
#include "slot/retry.h"
#include "slot/review_rows.h"
#include "slot/round.h"
#include "txn/txn.h"

/* Number of the review or fix; for a check, of the review after it, whose round has begun when its
 * tree was measured. */
static int64_t round_of(const struct slot *slot, enum role role)
{
	const struct slot_row *row = slot->row;

	switch (role) {
	case ROLE_CHECK:
		return slot_checks_room(slot) ? row->round : row->round + 1;
	case ROLE_REVIEW:
		return row->round;
	case ROLE_FIX:
		return row->fix;
	case ROLE_IMPLEMENT:
	case ROLE_COMMIT:
	case ROLE_SETUP:
	case ROLES:
		break;
	}
	return 0;
}

/* The command, or the agent. */
static const char *name_of(const struct slot *slot, enum role role)
{
	const struct plan *plan = slot_plan(slot);

	switch (role) {
	case ROLE_CHECK:
		return plan->checks[slot->row->check - 1];
	case ROLE_SETUP:
		return plan->setup[slot->row->setup - 1];
	case ROLE_IMPLEMENT:
	case ROLE_REVIEW:
	case ROLE_FIX:
	case ROLE_COMMIT:
	case ROLES:
		break;
	}
	return plan->agents[role].name;
}

void attempt_begin(struct txn *txn, struct slot *slot, enum role role)
{
	struct run *run = slot->run;
	struct engine *engine = run->engine;
	const struct agent_plan *agent = &slot_plan(slot)->agents[role];
	const struct task_row *task = slot_task(slot);
	struct attempt_row *a;
	char uuid[37];

	if (task != NULL && task->locked_tree != NULL) {
		log_bug("run %lld: task %s has passed and is locked; no %s attempt",
		    (long long)run->rows->run.id, slot->row->task, state_name(&role_names, (int)role));
		return;
	}
	a = row_new(ROW_ATTEMPT);
	engine->ports.uuid(engine->ports.clock_ctx, uuid);
	a->id = ++engine->last_attempt;
	a->run = run->rows->run.id;
	a->number = (int64_t)run->rows->nattempts + 1;
	a->iteration = slot->row->iteration;
	a->slot = slot_row_work(slot->row);
	a->task = xstrdup(slot->row->task);
	a->role = (int)role;
	a->round = round_of(slot, role);
	a->agent = xstrdup(name_of(slot, role));
	a->reviewer = xstrdup(slot->row->reviewer);
	a->model = xstrdup(plan_model(slot_plan(slot), role, agent, slot->row->fix));
	a->account = !role_is_command(role) ? xstrdup(agent->account) : NULL;
	a->launcher = !role_is_command(role) ? xstrdup(agent->launcher) : NULL;
	a->uuid = xstrdup(uuid);
	a->boot_id = xstrdup(engine->ports.boot_id(engine->ports.clock_ctx));
	a->state = ATTEMPT_S_STARTING;
	a->resumes = attempt_resumes(slot, a);
	txn_edit_slot(txn, slot)->attempt = a->id;
	txn_add(txn, run, ROW_ATTEMPT, a);
	txn_effect(txn, EFFECT_BUILD, run, slot, a->id);
}

static json_t *attempt_body(const struct attempt_row *a)
{
	return json_pack("{s:I, s:I, s:s, s:s*, s:I, s:I}", "attempt", (json_int_t)a->id, "number",
	    (json_int_t)a->number, "role", state_name(&role_names, a->role), "agent", a->agent, "slot",
	    (json_int_t)a->slot, "round", (json_int_t)a->round);
}

void attempt_emit_started(struct txn *txn, const struct attempt_row *a)
{
	txn_emit(txn, "attempt.started", a->run, attempt_body(a));
}

static void set_number(json_t *body, const char *name, int64_t value)
{
	if (value != ROW_NONE)
		json_object_set_new(body, name, json_integer(value));
}

void attempt_emit_ended(struct txn *txn, const struct attempt_row *a)
{
	json_t *body = attempt_body(a);

	json_object_set_new(body, "state", json_string(state_name(&attempt_state_names, a->state)));
	set_number(body, "exit_code", a->exit_code);
	set_number(body, "signal", a->signal);
	json_object_set_new(body, "process", json_string(state_name(&process_result_names, a->process)));
	if (a->provider != PROVIDER_NONE)
		json_object_set_new(body, "provider", json_string(state_name(&provider_result_names, a->provider)));
	json_object_set_new(body, "outcome", json_string(state_name(&task_result_names, a->outcome)));
	if (a->cause != NULL) {
		json_object_set_new(body, "cause", json_string(a->cause));
		json_object_set_new(body, "end_kind", json_string(state_name(&end_kind_names, a->end_kind)));
	}
	set_number(body, "tokens_input", a->tokens_input);
	set_number(body, "tokens_output", a->tokens_output);
	if (a->cost_usd == a->cost_usd)
		json_object_set_new(body, "cost_usd", json_real(a->cost_usd));
	if (a->started_at != ROW_NONE && a->ended_at != ROW_NONE)
		set_number(body, "wall_ms", a->ended_at - a->started_at);
	txn_emit(txn, "attempt.ended", a->run, body);
}

/* The attempt was never started. */
static void end_unstarted(struct txn *txn, struct slot *slot, enum process_result process, struct cause cause)
{
	struct attempt_row *a = txn_edit_attempt(txn, run_attempt(slot->run, slot->row->attempt));

	a->state = ATTEMPT_S_EXITED;
	text_set(&a->node, NULL);
	a->process = (int)process;
	a->outcome = TASK_R_FAILED;
	attempt_set_cause(a, cause);
	a->ended_at = engine_now(slot->run->engine);
	if (budget_release(txn, a))
		txn_effect_cooling(txn);
	attempt_emit_ended(txn, a);
	activity_end(&slot->activity);
}

void attempt_unstarted(struct txn *txn, struct slot *slot)
{
	end_unstarted(txn, slot, PROCESS_CANCELLED, CAUSE(END_CANCELLED, "cancelled before it was started"));
	slot_ended(txn, slot);
}

void attempt_cancelled(struct txn *txn, struct slot *slot)
{
	const struct attempt_row *a = slot->row != NULL ?
	    run_rows_attempt(slot->run->rows, slot->row->attempt) : NULL;

	if (a != NULL && a->state == ATTEMPT_S_STARTING)
		attempt_unstarted(txn, slot);
	else
		slot_ended(txn, slot);
}

void attempt_forgone(struct txn *txn, struct slot *slot, struct cause cause)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);

	end_unstarted(txn, slot, PROCESS_NOT_STARTED, cause);
	slot_set_reason(txn_edit_slot(txn, slot), NO_REASON);	/* it waits for nothing any more */
	if (a->role == ROLE_IMPLEMENT && slot_plan(slot)->review)
		review_skip(txn, slot, SKIP_FAILED);
	slot_fail(txn, slot, cause);
}

void attempt_reviewer_changed(struct slot *slot, const char *why)
{
	struct txn *txn = txn_new(slot->run->engine);

	end_unstarted(txn, slot, PROCESS_NOT_STARTED, CAUSE(END_REVIEWER_CHANGED, why));
	review_error(txn, slot, why);
	round_over(txn, slot, ROUND_REVIEWER_CHANGED, CAUSE(END_REVIEWER_CHANGED, why));
	txn_commit(txn);
}

void attempt_missing(struct slot *slot)
{
	log_bug("run %lld slot %lld: stage %s without an attempt", (long long)slot->row->run,
	    (long long)slot->row->slot, state_name(&slot_stage_names, slot->row->stage));
}
