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
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "slot/machine.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* Exit statuses of sh for a command that cannot be executed, or is not found. */
enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

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

static bool is_asked(const struct slot *slot, enum check_on_base when)
{
	const struct plan *plan = slot_plan(slot);

	return plan->check_on_base == when && plan->review && strings_count(plan->checks) > 0 &&
	    slot->row->base == BASE_UNKNOWN && !is_known_green(slot);
}

/* Returns false if there is nothing to run: all checks are known to be green there. */
static bool begin(struct txn *txn, struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	int64_t known = checks_known(slot, slot_base_tree(slot), 0);

	row->base = BASE_CHECKING;
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
	bool asked = slot->row->slot != 0 && is_asked(slot, CHECK_ON_BASE_REQUIRE);
	enum slot_stage to = stage_before_work(next, asked, slot_checks_room(slot));

	return to != next && begin(txn, slot) ? to : next;
}

/* malloc'd; *started false: nobody can repair that by work on the task. */
static char *cause_of(const struct slot *slot, const struct attempt_row *a, bool *started)
{
	*started = a->exit_code != NOT_EXECUTABLE && a->exit_code != NOT_FOUND;
	if (*started)
		return xasprintf("check: \"%s\" is red on the base", a->agent);
	return xasprintf("check: \"%s\" cannot be started on the base: it exited %lld; %s", a->agent,
	    (long long)a->exit_code, slot_checks_room(slot) ?
	    "set setup or copy of [run], or review.workspace = \"same\", in .rld.toml" :
	    "correct checks of [review]");
}

static void warn_red(struct txn *txn, struct slot *slot, const char *cause)
{
	char *text = xasprintf("task %s: %s", slot_task_id(slot), cause);

	run_warn(txn, slot->run, text);
	free(text);
}

/* A check that has failed on the base. Returns whether the slot has ended with that. */
static bool take_red(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool before)
{
	bool started;
	char *cause = cause_of(slot, a, &started);

	txn_edit_slot(txn, slot)->base = BASE_RED;
	if (before || !started)
		slot_move(txn, slot, SLOT_S_CHECKING, SLOT_S_FAILED,
		    &(struct move_why){ .cause = CAUSE(END_BASE, cause) });
	else
		warn_red(txn, slot, cause);
	free(cause);
	return before || !started;
}

bool base_before_fix(struct txn *txn, struct slot *slot, const struct attempt_row *failed)
{
	/* elsewhere the base is no longer there */
	if (!slot_checks_room(slot) || !is_asked(slot, CHECK_ON_BASE_WARN) ||
	    check_classify(slot->row->fix, slot->row->fixes) != ROUND_FINDINGS)
		return false;
	/* nothing was changed: it has just failed there */
	if (object_is(slot->row->tree, slot_base_tree(slot)))
		return take_red(txn, slot, failed, false);
	if (!begin(txn, slot))
		return false;
	txn_edit_slot(txn, slot)->failed_check = failed->id;
	slot_move(txn, slot, SLOT_S_CHECKING, SLOT_S_CHECKOUT, NULL);
	return true;
}

bool base_checked(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool red)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	bool before = row->answer == ROW_NONE;

	row->check = 0;
	row->red_check = ROW_NONE;
	row->base = BASE_GREEN;
	/* one that fails there, and not on the work, tells nothing about the one that does */
	if (red && (before || strcmp(run_attempt(slot->run, row->failed_check)->agent, a->agent) == 0) &&
	    take_red(txn, slot, a, before))
		return false;
	if (before)
		slot_move(txn, slot, SLOT_S_CHECKING, SLOT_S_IMPLEMENTING, NULL);
	return !before;
}
