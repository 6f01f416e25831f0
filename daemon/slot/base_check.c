/* SPDX-License-Identifier: MIT */
#include "slot/base_check.h"

#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/review.h"
#include "core/row.h"
#include "evidence/check_evidence.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "slot/machine.h"
#include "slot/measured.h"
#include "slot/round.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* Its number among the checks of the plan. */
static int64_t check_number(const struct slot *slot, const char *command)
{
	char **checks = slot_plan(slot)->checks;
	int64_t number = 1;

	while (checks[number - 1] != NULL && strcmp(checks[number - 1], command) != 0)
		number++;
	return number;
}

/* Another slot of the run has run the same checks on the run's base, and they were green. */
static bool is_known_green(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;

	if (slot->plan != NULL)
		return false;
	for (size_t i = 0; i < rows->nslots; i++) {
		const struct task_row *task = rows->slots[i]->task != NULL ?
		    run_rows_task(rows, rows->slots[i]->task) : NULL;

		if (rows->slots[i]->base == BASE_GREEN && (task == NULL || task->plan == NULL))
			return true;
	}
	return false;
}

static bool is_required(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);

	return plan->check_on_base == CHECK_ON_BASE_REQUIRE && plan->review && strings_count(plan->checks) > 0 &&
	    slot->row->slot != 0 && slot->row->base == BASE_UNKNOWN && !is_known_green(slot);
}

/* Returns false if there is nothing to run: all checks are known to be green there. */
static bool begin(struct txn *txn, struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	int64_t known;

	row->base = BASE_CHECKING;
	row->gap = 0;
	known = checks_known(slot, slot_base_tree(slot), 0);
	checks_reuse(txn, slot, 0, known);
	if (known == (int64_t)strings_count(slot_plan(slot)->checks)) {
		row->base = BASE_GREEN;
		return false;
	}
	row->check = known;
	row->red_check = ROW_NONE;
	return true;
}

enum slot_stage base_before_work(struct txn *txn, struct slot *slot, enum slot_stage next)
{
	enum slot_stage to = stage_before_work(next, is_required(slot), slot_checks_room(slot));

	return to != next && begin(txn, slot) ? to : next;
}

/* Exit statuses of sh for a command that cannot be executed, or is not found. */
enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

bool base_cannot_start(const struct attempt_row *a)
{
	return a->exit_code == NOT_EXECUTABLE || a->exit_code == NOT_FOUND;
}

/* Nobody can repair that by work on the task. Takes cause. */
static void fail(struct txn *txn, struct slot *slot, char *cause)
{
	txn_edit_slot(txn, slot)->base = BASE_RED;
	slot_move(txn, slot, slot_stage(slot), SLOT_S_FAILED, &(struct move_why){ .cause = CAUSE(END_BASE, cause) });
	free(cause);
}

static char *red_cause(const struct attempt_row *a)
{
	return xasprintf("check: \"%s\" is red on the base", a->agent);
}

static char *unstarted_cause(const struct slot *slot, const struct attempt_row *a)
{
	return xasprintf("check: \"%s\" cannot be started on the base: it exited %lld; %s", a->agent,
	    (long long)a->exit_code, !slot_checks_room(slot) ? "correct checks of [review]" :
	    slot->row->remedy != NULL ? slot->row->remedy :
	    "set setup or copy of [run], or review.workspace = \"same\", in .rld.toml");
}

void base_fail_unstarted(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	fail(txn, slot, unstarted_cause(slot, a));
}

void base_fail_here(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	fail(txn, slot, xasprintf("check: %s is green in your directory and red in a clean checkout; %s",
	    a->agent, slot->row->remedy));
}

/* ---- the user's directory ---- */

/* An agent works there, or has worked there and may have left anything. */
static bool is_worked_in(const struct slot *slot)
{
	const struct run *run = slot->run, *other;

	for (size_t i = 0; i < run->rows->nattempts && run->plan.isolation != ISOLATION_WORKTREE; i++)
		if (!role_is_command((enum role)run->rows->attempts[i]->role))
			return true;
	LIST_FOREACH(other, &run->engine->runs, entry)
		if (other != run && other->plan.isolation != ISOLATION_WORKTREE && other->rows->run.iteration > 0 &&
		    text_equal(other->rows->run.workspace, run->rows->run.workspace))
			return true;
	return false;
}

bool base_compare(struct txn *txn, struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	if (row->remedy == NULL || is_worked_in(slot))
		return false;
	row->base = BASE_COMPARING;
	slot_move(txn, slot, SLOT_S_CHECKING, SLOT_S_CHECKING, &(struct move_why){ .reason = MOVE_RETRY });
	return true;
}

/* ---- after a failure ---- */

static void warn_red(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	char *text = xasprintf("task %s: check: \"%s\" is red on the base%s", slot_task_id(slot), a->agent,
	    slot_plan(slot)->checks_mode == CHECKS_NEW_FAILURES ? "; it does not count" : "");

	run_warn(txn, slot->run, text);
	free(text);
}

/* The check that has failed on the work does not count: continue behind it. elsewhere: its room is
 * gone. */
static void forgive(struct txn *txn, struct slot *slot, const struct attempt_row *failed, bool elsewhere)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	int64_t check = check_number(slot, failed->agent), known = checks_known(slot, row->tree, check);

	checks_reuse(txn, slot, check, known);
	row->check = known;
	row->gap = elsewhere ? 1 : row->gap;
	row->failed_check = row->red_check = ROW_NONE;
	if (known == checks_count(slot))
		measured_checked(txn, slot);
	else
		slot_move(txn, slot, slot_stage(slot), elsewhere ? SLOT_S_CHECKOUT : SLOT_S_CHECKING, NULL);
}

/* The attempt that the evidence is from, ROW_NONE: not known any more. */
static int64_t attempt_of(const struct slot *slot, const struct evidence_row *e)
{
	const struct run_rows *rows = slot->run->rows;

	if (e->attempt != ROW_NONE)
		return e->attempt;
	for (size_t i = 0; i < rows->nattempts && e->from_run == rows->run.id; i++)
		if (rows->attempts[i]->number == e->from_attempt)
			return rows->attempts[i]->id;
	for (size_t i = 0; i < slot->nknown; i++)
		if (slot->known[i]->from_run == e->from_run && slot->known[i]->from_attempt == e->from_attempt)
			return slot->known[i]->attempt;
	return ROW_NONE;
}

/* On the base, too, it could not be started; if that is not known any more, it is believed. */
static bool said_unstarted(const struct slot *slot, const struct evidence_row *said)
{
	const struct attempt_row *a = run_rows_attempt(slot->run->rows, attempt_of(slot, said));

	return a == NULL || base_cannot_start(a);
}

/* The baseline has warned of it. */
static bool is_of_baseline(const struct slot *slot, const struct evidence_row *said)
{
	const struct attempt_row *a = run_rows_attempt(slot->run->rows, attempt_of(slot, said));

	return a != NULL && a->slot == SLOT_BASELINE;
}

/* What the base says of the check that has failed on the work. Returns whether the slot has
 * moved. */
static bool judge(struct txn *txn, struct slot *slot, const struct attempt_row *failed, bool elsewhere)
{
	const struct evidence_row *said = check_on_base(slot, failed->agent);

	if (said == NULL || said->result != EVIDENCE_RED)
		return false;
	if (base_cannot_start(failed) && said_unstarted(slot, said)) {
		base_fail_unstarted(txn, slot, failed);
		return true;
	}
	if (elsewhere && base_compare(txn, slot))
		return true;
	if (!is_of_baseline(slot, said) || slot_plan(slot)->checks_mode == CHECKS_NEW_FAILURES)
		warn_red(txn, slot, failed);
	if (slot_plan(slot)->checks_mode != CHECKS_NEW_FAILURES)
		return false;
	forgive(txn, slot, failed, elsewhere);
	return true;
}

bool base_is_of_run(const struct slot *slot)
{
	return slot->plan == NULL && object_is(slot_base_tree(slot), slot->run->rows->run.base_tree);
}

/* The baseline is at work, and has not said yet what the slot's failed check is on the base. */
static bool awaits_baseline(const struct slot *slot)
{
	const struct slot_row *row = run_baseline(slot->run);

	return row != NULL && !slot_stage_is_end((enum slot_stage)row->stage) && base_is_of_run(slot) &&
	    check_on_base(slot, run_attempt(slot->run, slot->row->failed_check)->agent) == NULL;
}

/* Its room could not be set up, say: another try would end like that. The run has a warning. */
static bool baseline_gave_up(const struct slot *slot)
{
	const struct slot_row *row = run_baseline(slot->run);

	return row != NULL && row->stage == SLOT_S_FAILED && base_is_of_run(slot);
}

bool base_after_red(struct txn *txn, struct slot *slot, const struct attempt_row *failed)
{
	const struct plan *plan = slot_plan(slot);
	bool pays = check_classify(slot->row->fix, slot->row->fixes) == ROUND_FINDINGS;
	struct slot_row *row = txn_edit_slot(txn, slot);

	/* elsewhere the base is no longer there */
	if (!slot_checks_room(slot) || plan->check_on_base != CHECK_ON_BASE_WARN ||
	    (!pays && plan->checks_mode != CHECKS_NEW_FAILURES))
		return false;
	row->failed_check = failed->id;
	row->base = BASE_UNKNOWN;
	if (awaits_baseline(slot)) {
		row->base = BASE_AWAITED;
		activity_wait(&slot->activity, ACTIVITY_BASELINE);
		slot_release_permit(txn, slot);
		return true;
	}
	if (check_on_base(slot, failed->agent) == NULL) {
		if (baseline_gave_up(slot))
			return false;
		begin(txn, slot);
		slot_move(txn, slot, SLOT_S_CHECKING, SLOT_S_CHECKOUT, NULL);
		return true;
	}
	/* if nothing was changed, it has just failed there */
	if (!object_is(row->tree, slot_base_tree(slot)))
		check_reuse_base(txn, slot, check_number(slot, failed->agent) - 1);
	return judge(txn, slot, failed, false);
}

void base_look(struct slot *slot)
{
	const struct attempt_row *failed = run_attempt(slot->run, slot->row->failed_check);
	struct txn *txn = txn_new(slot->run->engine);

	activity_end(&slot->activity);
	if (slot_ending(slot))
		slot_ended(txn, slot);
	else if (!base_after_red(txn, slot, failed))
		round_check_failed(txn, slot, failed);
	txn_commit(txn);
}

/* Before the work: the first red check ends it. */
static void checked_before(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool red)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	if (red && base_cannot_start(a))
		base_fail_unstarted(txn, slot, a);
	else if (red && !base_compare(txn, slot))
		fail(txn, slot, red_cause(a));
	if (red)
		return;
	row->check = row->gap = 0;
	row->red_check = ROW_NONE;
	row->base = BASE_GREEN;
	slot_move(txn, slot, SLOT_S_CHECKING, SLOT_S_IMPLEMENTING, NULL);
}

bool base_checked(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool red)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	int64_t known = checks_known(slot, slot_base_tree(slot), row->check);

	if (!slot_has_work(slot)) {
		checked_before(txn, slot, a, red);
		return true;
	}
	checks_reuse(txn, slot, row->check, known);
	row->check = known;
	/* one that fails there may be green on the work: only the last one is compared */
	if (known < checks_count(slot)) {
		slot_move(txn, slot, SLOT_S_CHECKING, SLOT_S_CHECKING, NULL);
		return true;
	}
	row->base = BASE_UNKNOWN;
	row->red_check = ROW_NONE;
	return judge(txn, slot, run_attempt(slot->run, row->failed_check), true);
}

bool base_compared(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool green)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	row->red_check = ROW_NONE;
	if (green)
		base_fail_here(txn, slot, a);
	else if (!slot_has_work(slot))
		fail(txn, slot, red_cause(a));
	if (green || !slot_has_work(slot))
		return true;
	row->base = BASE_UNKNOWN;
	/* once is enough */
	text_set(&row->remedy, NULL);
	return judge(txn, slot, run_attempt(slot->run, row->failed_check), true);
}

/* ---- what other runs know ---- */

bool base_ask(struct slot *slot, void (*done)(struct slot *slot))
{
	const struct plan *plan = slot_plan(slot);
	char **checks = plan->checks;

	if (run_attempt(slot->run, slot->row->attempt)->role != ROLE_IMPLEMENT || !plan->review ||
	    plan->check_on_base == CHECK_ON_BASE_SKIP)
		return false;
	for (size_t i = 0; i < strings_count(checks); i++)
		if (check_on_base(slot, checks[i]) != NULL)
			return false;
	return checks_ask(slot, slot_base_tree(slot), done);
}

bool base_take(struct txn *txn, struct slot *slot)
{
	bool any = false;

	for (int64_t i = 0; i < (int64_t)strings_count(slot_plan(slot)->checks); i++) {
		if (check_on_base(slot, slot_plan(slot)->checks[i]) == NULL)
			continue;
		check_reuse_base(txn, slot, i);
		any = true;
	}
	return any;
}

char *base_red(const struct slot *slot, int64_t *output)
{
	const struct plan *plan = slot_plan(slot);
	struct buf b = { 0 };

	*output = ROW_NONE;
	for (size_t i = 0; plan->check_on_base != CHECK_ON_BASE_SKIP && i < strings_count(plan->checks); i++) {
		const struct evidence_row *said = check_on_base(slot, plan->checks[i]);

		if (said == NULL || said->result != EVIDENCE_RED)
			continue;
		buf_addf(&b, "%s`%s`", b.size > 0 ? "\n" : "", plan->checks[i]);
		*output = *output == ROW_NONE ? attempt_of(slot, said) : *output;
	}
	return b.data;
}
