/* SPDX-License-Identifier: MIT */
/* Budgets of runs and accounts: checked before each attempt, settled after it. core/budget.h
 * defines the numbers; they are summed up from the rows each time, so that nothing must be restored
 * after a restart. */
#include "sched/spending.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "core/budget.h"
#include "core/cause.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "sched/accounts.h"
#include "txn/emit.h"
#include "txn/txn.h"

static struct budget of_run(const struct run *run, int64_t but)
{
	return budget_of_run(&run->plan, &run->rows->run, run->rows->attempts, run->rows->nattempts,
	    but, engine_now(run->engine));
}

static bool has_ended(const struct attempt_row *a)
{
	return a->state == ATTEMPT_S_EXITED || a->state == ATTEMPT_S_LOST;
}

/* Today's, without one attempt. */
static struct budget of_account(struct engine *engine, const char *name, int64_t but)
{
	struct budget b = account_day(engine, name);
	const struct run *run;

	if (!budget_has_cap(&b))
		return b;
	LIST_FOREACH(run, &engine->begun, begun)
		for (size_t i = 0; i < run->rows->nattempts; i++) {
			const struct attempt_row *a = run->rows->attempts[i];

			if (a->id != but && !has_ended(a) && a->account != NULL && strcmp(a->account, name) == 0)
				budget_add(&b, a);
		}
	return b;
}

/* A check costs nothing, the costs of a reviewing program are not counted, and for an attempt of an
 * older version the account is unknown. */
static bool is_free(const struct slot *slot, const struct attempt_row *a)
{
	return a->account == NULL || (a->role == ROLE_REVIEW && slot_plan(slot)->profile->carrier == CARRIER_EXIT);
}

void run_spent(const struct run *run, char out[RUN_SPENT_MAX])
{
	struct budget b;
	enum budget_kind kind;
	char *text;

	out[0] = '\0';
	if (!plan_has_budget(&run->plan))
		return;
	b = of_run(run, ROW_NONE);
	if (!budget_is_spent(&b, &kind))
		return;
	text = budget_text(&b, kind);
	snprintf(out, RUN_SPENT_MAX, "%s are %s (%s)", text, budget_words[kind].spent, budget_words[kind].run);
	free(text);
}

bool run_is_out_of_time(const struct run *run)
{
	const struct run_row *row = &run->rows->run;

	return run->plan.max_wall_ms != ROW_NONE && row->started_at != ROW_NONE &&
	    engine_now(run->engine) - row->started_at >= run->plan.max_wall_ms;
}

int64_t run_time_left(const struct run *run)
{
	int64_t left;

	if (run->plan.max_wall_ms == ROW_NONE || run->rows->run.started_at == ROW_NONE)
		return ROW_NONE;
	left = run->rows->run.started_at + run->plan.max_wall_ms - engine_now(run->engine);
	return left > 0 ? left : 1;
}

/* Reservation for the attempt; NaN: none of that kind. */
static void estimate(const struct run *run, const struct attempt_row *a, const struct budget *mine,
    const struct budget *account, double own[BUDGET_KINDS])
{
	for (int kind = 0; kind < BUDGET_KINDS; kind++) {
		double cap = fmin(mine->cap[kind], account->cap[kind]);

		own[kind] = isnan(cap) || kind == BUDGET_WALL ? (double)NAN :
		    budget_estimate(run->rows->attempts, run->rows->nattempts, (enum role)a->role,
		    (enum budget_kind)kind, cap);
	}
}

void attempt_spent(const struct slot *slot, const struct attempt_row *a, char out[RUN_SPENT_MAX])
{
	struct budget mine, none = { .cap = { NAN, NAN, NAN } };
	double own[BUDGET_KINDS];
	enum budget_kind kind;
	char *text, *needed;

	run_spent(slot->run, out);
	if (out[0] != '\0' || !slot->run->plan.strict_budget || is_free(slot, a))
		return;
	mine = of_run(slot->run, a->id);
	estimate(slot->run, a, &mine, &none, own);
	if (!budget_is_short(&mine, own, &kind))
		return;
	text = budget_text(&mine, kind);
	needed = budget_amount(kind, own[kind]);
	snprintf(out, RUN_SPENT_MAX, "%s are %s (%s), and the next attempt is expected to use %s", text,
	    budget_words[kind].spent, budget_words[kind].run, needed);
	free(needed);
	free(text);
}

static char *wait_text(const struct budget *b, enum budget_kind kind, const char *whose, const char *name)
{
	char *text = budget_text(b, kind), *reason =
	    xasprintf("budget: %s%s are %s (%s), and the rest is reserved for running attempts",
	    whose, text, budget_words[kind].spent, name);

	free(text);
	return reason;
}

char *budget_waits(struct slot *slot, const struct attempt_row *a, const char *account)
{
	struct budget mine = of_run(slot->run, a->id), day;
	double own[BUDGET_KINDS];
	enum budget_kind kind;
	char *whose, *reason;

	if (is_free(slot, a))
		return NULL;
	day = of_account(slot->run->engine, account, a->id);
	estimate(slot->run, a, &mine, &day, own);
	if (budget_ask(&mine, own, &kind) == BUDGET_WAIT)
		return wait_text(&mine, kind, "", budget_words[kind].run);
	if (budget_ask(&day, own, &kind) != BUDGET_WAIT)
		return NULL;
	whose = xasprintf("account %s: ", account);
	reason = wait_text(&day, kind, whose, budget_words[kind].account);
	free(whose);
	return reason;
}

static bool is_reserved(const struct attempt_row *a)
{
	return !isnan(a->reserved_usd) || a->reserved_tokens != ROW_NONE;
}

bool budget_reserve(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	struct budget mine = of_run(slot->run, a->id), day;
	double own[BUDGET_KINDS];
	struct attempt_row *edit;

	if (is_free(slot, a) || is_reserved(a))
		return false;
	day = of_account(slot->run->engine, a->account, a->id);
	estimate(slot->run, a, &mine, &day, own);
	if (isnan(own[BUDGET_COST]) && isnan(own[BUDGET_TOKENS]))
		return false;
	edit = txn_edit_attempt(txn, a);
	edit->reserved_usd = own[BUDGET_COST];
	edit->reserved_tokens = isnan(own[BUDGET_TOKENS]) ? ROW_NONE : (int64_t)own[BUDGET_TOKENS];
	return true;
}

bool budget_release(struct txn *txn, const struct attempt_row *a)
{
	struct attempt_row *edit;

	if (!is_reserved(a))
		return false;
	edit = txn_edit_attempt(txn, a);
	edit->reserved_usd = NAN;
	edit->reserved_tokens = ROW_NONE;
	return true;
}

static json_t *event_body(const struct budget *b, enum budget_kind kind, const char *account)
{
	return json_pack("{s:s, s:f, s:f, s:s*}", "kind", state_name(&budget_kind_names, (int)kind),
	    "spent", b->spent[kind], "limit", b->cap[kind], "account", account);
}

/* Four fifths are spent: warn once for each limit. */
static void warn_run(struct txn *txn, struct run *run, const struct budget *before, const struct budget *after)
{
	for (int i = 0; i < BUDGET_KINDS; i++) {
		enum budget_kind kind = (enum budget_kind)i;
		/* time reaches the mark without an attempt, and is looked at again */
		bool is_time = kind == BUDGET_WALL, warned = true;
		char *text, *warning;

		if (!budget_warns(after->cap[kind], is_time ? 0 : before->spent[kind], after->spent[kind]))
			continue;
		text = budget_text(after, kind);
		warning = xasprintf("%s are %s (%s)", text, budget_words[kind].spent, budget_words[kind].run);
		if (is_time)
			warned = run_warn_once(txn, run, WARNING_WALL, warning);
		else
			run_warn(txn, run, warning);
		if (warned)
			txn_emit(txn, "budget", run->rows->run.id, event_body(after, kind, NULL));
		free(warning);
		free(text);
	}
}

static void watch(struct run *run, int64_t until);

/* Time when most of it is over. */
static int64_t warn_at(const struct run *run)
{
	return run->rows->run.started_at + (int64_t)ceil((double)run->plan.max_wall_ms * BUDGET_WARN);
}

static void watch_cb(void *arg, const struct wake *wake)
{
	struct engine *engine = arg;
	struct run *run = run_find(engine, wake->run);

	/* the run may have ended */
	if (!engine->stopped && run != NULL && !run_state_is_end((enum run_state)run->rows->run.state)) {
		struct budget now = of_run(run, ROW_NONE);
		struct txn *txn = txn_new(engine);

		warn_run(txn, run, &now, &now);
		txn_commit_or_drop(txn);
		if (run_is_out_of_time(run))
			effect_cooling_now(engine);
		else
			watch(run, engine_now(engine) < warn_at(run) ? warn_at(run) :
			    run->rows->run.started_at + run->plan.max_wall_ms);
	}
}

static void watch(struct run *run, int64_t until)
{
	engine_wake(run->engine, (struct wake){ .at = until, .until = until, .run = run->rows->run.id }, watch_cb);
}

void budget_watch(struct run *run)
{
	if (run->plan.max_wall_ms != ROW_NONE && run->rows->run.started_at != ROW_NONE)
		watch(run, warn_at(run));
}

static void warn_account(struct txn *txn, const char *name, const struct budget *before, const struct budget *after)
{
	for (int i = 0; i < BUDGET_KINDS; i++) {
		enum budget_kind kind = (enum budget_kind)i;
		char *text;

		if (!budget_warns(after->cap[kind], before->spent[kind], after->spent[kind]))
			continue;
		text = budget_text(after, kind);
		log_warn("account %s: %s are %s today (%s)", name, text, budget_words[kind].spent,
		    budget_words[kind].account);
		txn_emit(txn, "budget", ROW_NONE, event_body(after, kind, name));
		free(text);
	}
}

/* Returns whether the account has a budget. */
static bool settle_account(struct txn *txn, struct engine *engine, const struct attempt_row *a)
{
	struct budget before = account_day(engine, a->account), after;
	double cost = budget_used(a, BUDGET_COST), tokens = budget_used(a, BUDGET_TOKENS),
	    wall = budget_used(a, BUDGET_WALL);

	account_settle(txn, engine, a->account, isnan(cost) ? 0 : cost,
	    isnan(tokens) ? 0 : (int64_t)tokens, isnan(wall) ? 0 : (int64_t)wall);
	after = account_day(engine, a->account);
	warn_account(txn, a->account, &before, &after);
	account_cool_if_spent(txn, engine, a->account, &after, a->id);
	return budget_has_cap(&after);
}

void budget_settle(struct txn *txn, const struct slot *slot, const struct attempt_row *a)
{
	struct run *run = slot->run;
	struct budget before = of_run(run, a->id), after = before;
	bool look;

	if (a->process == PROCESS_NOT_STARTED) {
		look = budget_release(txn, a);
	} else {
		budget_add(&after, a);
		look = budget_has_cap(&after);
		warn_run(txn, run, &before, &after);
		if (!is_free(slot, a))
			look |= settle_account(txn, run->engine, a);
		/* a reported cost counts exactly */
		if (!isnan(budget_told(a, BUDGET_COST)))
			txn_edit_attempt(txn, a)->reserved_usd = NAN;
		if (!isnan(budget_told(a, BUDGET_TOKENS)))
			txn_edit_attempt(txn, a)->reserved_tokens = ROW_NONE;
	}
	if (look)
		txn_effect_cooling(txn);
}
