/* SPDX-License-Identifier: MIT */
/* Attempts that wait before they start: for an exhausted account, or for the retry after a service
 * failed. They wait without a permit, and the row of their slot says for what; so they keep waiting
 * after a restart. */
#include "slot/account_wait.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/log.h"
#include "core/backoff.h"
#include "core/cause.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "proto/units.h"
#include "sched/accounts.h"
#include "sched/launcher_slots.h"
#include "sched/permits.h"
#include "sched/spending.h"
#include "slot/retry.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* Upper limit of a wait before it is checked again, because the wall clock may be set and a machine
 * may sleep. */
#define LOOK_MS (INT64_C(10) * 60 * 1000)

/* No back-off is this long, so the clock was set back. */
#define RETRY_FAR_MS (2 * BACKOFF_MAX_MS)

/* Why an attempt may not start yet. */
struct wait {
	/* TIME when that changes; ROW_NONE: an event changes it, see txn_effect_cooling() */
	int64_t until;
	const char *account;	/* account that it waits for, NULL: none */
	enum wait_kind kind;	/* kind of reason */
	char *reason;		/* owned */
};

/* The first agent of the attempt whose account is available; NULL: none, and *until is the end of
 * the earliest cooldown. */
static const struct agent_plan *choose(struct slot *slot, const struct attempt_row *a,
    const struct cooldown_row **until)
{
	const struct agent_plan *first = &slot_plan(slot)->agents[a->role], *agent;

	for (size_t i = 0; (agent = plan_agent_at(first, i)) != NULL; i++) {
		const struct cooldown_row *cooldown = account_cooldown(slot->run->engine, agent->account);

		if (cooldown == NULL)
			return agent;
		if (i == 0 || cooldown->until < (*until)->until)
			*until = cooldown;
	}
	return NULL;
}

static bool waits_for_account(struct slot *slot, const struct attempt_row *a, struct wait *wait)
{
	const struct cooldown_row *cooldown;
	char until[40];

	/* read the clock once: time passes */
	if (role_is_command((enum role)a->role) || choose(slot, a, &cooldown) != NULL)
		return false;
	time_format(cooldown->until, until, sizeof(until));
	wait->until = cooldown->until;
	wait->account = cooldown->account;
	wait->kind = WAIT_ACCOUNT;
	wait->reason = xasprintf("account %s: %s until %s%s%s", cooldown->account,
	    state_name(&cooldown_kind_names, cooldown->kind), until,
	    cooldown->reason != NULL ? ": " : "", cooldown->reason != NULL ? cooldown->reason : "");
	return true;
}

/* Back-off after a failure of the service. */
static bool waits_for_retry(struct slot *slot, const struct attempt_row *a, struct wait *wait)
{
	const struct slot_row *row = slot->row;
	const struct attempt_row *before = attempt_interrupted(slot, a);
	int64_t now = engine_now(slot->run->engine);
	char until[40];

	if (row->retry_at == ROW_NONE || row->retry_at <= now || row->retry_at > now + RETRY_FAR_MS)
		return false;
	time_format(row->retry_at, until, sizeof(until));
	wait->until = row->retry_at;
	wait->kind = WAIT_RETRY;
	wait->reason = xasprintf("retry %lld of %lld at %s%s%s", (long long)row->retries,
	    (long long)slot_plan(slot)->retries, until,
	    before != NULL && before->cause != NULL ? ": " : "",
	    before != NULL && before->cause != NULL ? before->cause : "");
	return true;
}

/* A host fault prevents the start. */
static bool waits_for_host(struct slot *slot, const struct attempt_row *a, struct wait *wait)
{
	const struct slot_row *row = slot->row;
	int64_t now = engine_now(slot->run->engine);

	(void)a;
	if (row->wait != WAIT_HOST || row->retry_at == ROW_NONE || row->retry_at <= now ||
	    row->retry_at > now + RETRY_FAR_MS)
		return false;
	wait->until = row->retry_at;
	wait->kind = WAIT_HOST;
	wait->reason = xstrdup(row->wait_reason);
	return true;
}

static bool waits_for_launcher(struct slot *slot, const struct attempt_row *a, struct wait *wait)
{
	const struct cooldown_row *until;
	const struct agent_plan *agent = role_is_command((enum role)a->role) ? NULL : choose(slot, a, &until);

	if (agent == NULL)
		return false;
	wait->kind = WAIT_LAUNCHER;
	wait->reason = launcher_waits(slot, agent, &wait->until);
	return wait->reason != NULL;
}

/* The rest of the budget may be needed by running attempts. */
static bool waits_for_budget(struct slot *slot, const struct attempt_row *a, struct wait *wait)
{
	const struct cooldown_row *until;
	const struct agent_plan *agent;

	if (role_is_command((enum role)a->role))
		return false;
	agent = choose(slot, a, &until);
	wait->kind = WAIT_BUDGET;
	wait->reason = budget_waits(slot, a, agent != NULL ? agent->account : a->account);
	return wait->reason != NULL;
}

/* What an attempt waits for, in this order. */
static bool (*const waits[])(struct slot *slot, const struct attempt_row *a, struct wait *wait) = {
	waits_for_account,
	waits_for_host,
	waits_for_retry,
	waits_for_launcher,
	waits_for_budget,
};

static void wake_cb(void *arg, const struct wake *wake)
{
	struct engine *engine = arg;
	struct run *run = run_find(engine, wake->run);
	struct slot *slot = run != NULL ? run_slot(run, wake->iteration, wake->slot) : NULL;

	/* it may have been cancelled or woken, and wait for something else */
	if (!engine->stopped && slot != NULL && slot->activity.wake_at == wake->until) {
		slot->activity.wake_at = ROW_NONE;
		if (slot->activity.kind == ACTIVITY_ACCOUNT)
			effect_now(slot, EFFECT_BUILD, slot->row->attempt);
	}
}

static void wake_later(struct slot *slot, int64_t until)
{
	struct engine *engine = slot->run->engine;
	int64_t now = engine_now(engine), at = until < now + LOOK_MS ? until : now + LOOK_MS;

	if (until == ROW_NONE || (slot->activity.wake_at != ROW_NONE &&
	    slot->activity.wake_at > now && slot->activity.wake_at <= until))
		return;
	slot->activity.wake_at = at;
	engine_wake(engine, (struct wake){ .at = at, .until = at, .run = slot->row->run,
	    .iteration = slot->row->iteration, .slot = slot->row->slot }, wake_cb);
}

/* Record the wait. The slot gives its permit back, because it may wait for hours. */
static void cool(struct slot *slot, const struct wait *wait)
{
	const struct slot_row *row = slot->row;
	const struct attempt_row *a = run_attempt(slot->run, row->attempt);
	struct txn *txn = txn_new(slot->run->engine);
	struct reason reason = REASON(wait->kind, wait->reason);
	bool told = slot_cools(row) && text_equal(row->cooling, wait->account) && slot_has_reason(row, reason);

	activity_wait(&slot->activity, ACTIVITY_ACCOUNT);
	if (a->node != NULL)
		text_set(&txn_edit_attempt(txn, a)->node, NULL);
	if (budget_release(txn, a))
		txn_effect_cooling(txn);
	if (!told) {
		struct slot_row *edit = txn_edit_slot(txn, slot);

		text_set(&edit->cooling, wait->account);
		/* an attempt that waits for others is also recorded as not started */
		if (wait->account == NULL && row->retry_at == ROW_NONE)
			edit->retry_at = engine_now(slot->run->engine);
		slot_set_reason(edit, reason);
		slot_emit_phase(txn, slot);
		log_about(LOG_LEVEL_INFO, row->run, 0, "run %lld slot %lld: %s", (long long)row->run,
		    (long long)row->slot, wait->reason);
	}
	if (slot->has_permit) {
		queue_give(slot);
		txn_effect_schedule(txn);
	}
	queue_yield(txn, slot->run);
	queue_update(slot->run);
	txn_commit_or_drop(txn);
	wake_later(slot, wait->until);
}

bool attempt_waits(struct slot *slot)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	const struct agent_plan *agent;

	/* the daily budget may have been reduced */
	for (size_t i = 0; !role_is_command((enum role)a->role) &&
	    (agent = plan_agent_at(&slot_plan(slot)->agents[a->role], i)) != NULL; i++)
		account_look(slot->run->engine, agent->account);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct wait wait = { .until = ROW_NONE };

		if (!waits[i](slot, a, &wait))
			continue;
		cool(slot, &wait);
		free(wait.reason);
		return true;
	}
	return false;
}

/* Assign a fallback, or the first choice once it is available again. Returns false if
 * the agent stays. */
static bool takes_over(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	const struct cooldown_row *until;
	const struct agent_plan *agent = role_is_command((enum role)a->role) ? NULL : choose(slot, a, &until);
	struct attempt_row *edit;

	if (agent == NULL || (strcmp(agent->name, a->agent) == 0 && a->account != NULL))
		return false;
	if (strcmp(agent->name, a->agent) != 0)
		log_about(LOG_LEVEL_INFO, a->run, 0, "run %lld slot %lld: agent %s replaces %s", (long long)a->run,
		    (long long)a->slot, agent->name, a->agent);
	edit = txn_edit_attempt(txn, a);
	text_set(&edit->agent, agent->name);
	text_set(&edit->model, plan_model(slot_plan(slot), (enum role)a->role, agent, slot->row->fix));
	text_set(&edit->account, agent->account);
	text_set(&edit->launcher, agent->launcher);
	/* another account has other limits */
	budget_release(txn, a);
	edit->resumes = attempt_resumes(slot, a);
	return true;
}

/* Take a machine of its launcher, or another one if that has no slot any more. It is on disk before
 * anything is placed there. Returns false if it stays. */
static bool takes_node(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	const struct cooldown_row *until;
	const struct agent_plan *agent = role_is_command((enum role)a->role) ? NULL : choose(slot, a, &until);
	char *node = agent != NULL ? launcher_node(slot, agent) : NULL;
	bool other = !text_equal(node, a->node);

	if (other)
		text_set(&txn_edit_attempt(txn, a)->node, node);
	/* what shares no directory shares no conversation either */
	if (node != NULL && agent->copies && a->resumes != ROW_NONE &&
	    !text_equal(run_attempt(slot->run, a->resumes)->node, node)) {
		txn_edit_attempt(txn, a)->resumes = ROW_NONE;
		other = true;
	}
	free(node);
	return other;
}

/* Record the current boot if the attempt was adopted after a restart of the machine.
 * Returns whether it was. */
static bool is_of_this_boot(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	const char *boot = slot->run->engine->ports.boot_id(slot->run->engine->ports.clock_ctx);

	if (strcmp(a->boot_id, boot) == 0)
		return false;
	text_set(&txn_edit_attempt(txn, a)->boot_id, boot);
	return true;
}

/* Clear the cooldown, if any; recovery relies on this being committed before the attempt starts.
 * Returns whether there was one. */
static bool is_warm(struct txn *txn, struct slot *slot)
{
	struct slot_row *row;

	if (!slot_cools(slot->row))
		return false;
	row = txn_edit_slot(txn, slot);
	text_set(&row->cooling, NULL);
	slot_set_reason(row, NO_REASON);
	row->retry_at = ROW_NONE;
	/* keep the start of the wait: it may be refused again */
	row->wait = WAIT_NOTHING;
	slot_emit_phase(txn, slot);
	return true;
}

bool attempt_settles(struct slot *slot)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	struct txn *txn = txn_new(slot->run->engine);
	bool warm = is_warm(txn, slot), other = takes_over(txn, slot, a), node = takes_node(txn, slot, a);
	bool boot = is_of_this_boot(txn, slot, a), reserved = budget_reserve(txn, slot, a);
	bool changes = warm || other || node || boot || reserved;

	if (changes)
		txn_effect(txn, EFFECT_BUILD, slot->run, slot, a->id);
	txn_commit_or_drop(txn);
	return changes;
}

void attempt_queues(struct slot *slot, bool cooled)
{
	const struct slot_row *row = slot->row;
	const struct attempt_row *a = run_attempt(slot->run, row->attempt);
	struct txn *txn = txn_new(slot->run->engine);

	/* it may wait as long as its run is paused, and must not block others on its account */
	if (budget_release(txn, a))
		txn_effect_cooling(txn);
	if (cooled || row->cooling != NULL) {
		struct slot_row *edit = txn_edit_slot(txn, slot);

		if (row->cooling != NULL)
			edit->retry_at = engine_now(slot->run->engine);
		text_set(&edit->cooling, NULL);
		slot_set_reason(edit, NO_REASON);
		slot_emit_phase(txn, slot);
	}
	txn_commit_or_drop(txn);
}

static void look_at(struct run *run)
{
	for (size_t i = 0; i < run->nslots; i++)
		if (run->slots[i]->activity.kind == ACTIVITY_ACCOUNT || run->slots[i]->activity.kind == ACTIVITY_CHECKS)
			effect_now(run->slots[i], EFFECT_BUILD, run->slots[i]->row->attempt);
}

void cooling_look(struct engine *engine)
{
	struct run *run;

	if (engine->recovering || engine->stopped)
		return;
	LIST_FOREACH(run, &engine->begun, begun)
		look_at(run);
}
