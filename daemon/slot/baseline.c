/* SPDX-License-Identifier: MIT */
#include "slot/baseline.h"

#include <stdlib.h>

#include "core/cause.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "evidence/check_evidence.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "slot/base_check.h"
#include "slot/machine.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* The first check of which nothing is known on the base; the number of checks: none. One of a task
 * may make what those behind it need. */
static int64_t first_unknown(const struct slot *slot)
{
	char **checks = slot_plan(slot)->checks;
	int64_t i = 0, count = (int64_t)strings_count(checks);

	while (i < count && !check_is_of_task(checks[i]) && check_on_base(slot, checks[i]) != NULL)
		i++;
	return i < count && check_is_of_task(checks[i]) ? count : i;
}

static bool is_wanted(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);

	return plan->base_beside && plan->check_on_base == CHECK_ON_BASE_WARN && plan->review &&
	    run_attempt(slot->run, slot->row->attempt)->role == ROLE_IMPLEMENT &&
	    run_is_recorded(slot->run) && run_baseline(slot->run) == NULL && slot_checks_room(slot) &&
	    base_is_of_run(slot) && first_unknown(slot) < (int64_t)strings_count(plan->checks);
}

void baseline_begin(struct slot *slot)
{
	struct run *run = slot->run;
	struct slot_row *row;
	struct txn *txn;

	if (!is_wanted(slot))
		return;
	txn = txn_new(run->engine);
	row = row_new(ROW_SLOT);
	slot_row_init(row, run, SLOT_BASELINE, NULL);
	row->base = BASE_CHECKING;
	row->base_tree = xstrdup(run->rows->run.base_tree);
	row->base_commit = xstrdup(slot->row->base_commit);
	row->check = first_unknown(slot);
	row->gap = row->check > 0;
	row->fixes = 0;
	txn_add(txn, run, ROW_SLOT, row);
	run_add_slot(run, row);
	slot_move(txn, run->slots[run->nslots - 1], SLOT_S_WAITING, SLOT_S_CHECKOUT, NULL);
	txn_commit(txn);
}

/* The next check of which nothing is known, or the end. */
static void continue_checks(struct txn *txn, struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	int64_t known = checks_known(slot, slot_base_tree(slot), row->check);

	row->red_check = ROW_NONE;
	row->gap |= known > row->check;
	row->check = known;
	slot_move(txn, slot, SLOT_S_CHECKING, row->check < checks_count(slot) ? SLOT_S_CHECKING : SLOT_S_PASSED, NULL);
}

static void red(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	char *text = xasprintf("check: \"%s\" is red on the base", a->agent);

	txn_edit_slot(txn, slot)->base = BASE_CHECKING;
	run_warn(txn, slot->run, text);
	free(text);
	continue_checks(txn, slot);
}

void baseline_checked(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool failed)
{
	if (!failed)
		continue_checks(txn, slot);
	else if (base_cannot_start(a))
		base_fail_unstarted(txn, slot, a);
	else if (!base_compare(txn, slot))
		red(txn, slot, a);
}

void baseline_compared(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool green)
{
	if (green)
		base_fail_here(txn, slot, a);
	else
		red(txn, slot, a);
}

void baseline_ended(struct txn *txn, struct slot *slot)
{
	const struct slot_row *row = slot->row;
	struct run *run = slot->run;

	/* the run ends for these, and says so */
	if (row->stage == SLOT_S_FAILED && row->end_kind != END_BASE && row->end_kind != END_LIMIT) {
		char *text = xasprintf("the checks did not run on the base: %s", row->cause);

		run_warn(txn, run, text);
		free(text);
	}
	for (size_t i = 0; i < run->nslots; i++)
		if (run->slots[i]->activity.kind == ACTIVITY_BASELINE)
			txn_effect(txn, EFFECT_STAGE, run, run->slots[i], ROW_NONE);
}
