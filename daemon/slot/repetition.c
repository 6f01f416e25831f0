/* SPDX-License-Identifier: MIT */
#include "slot/repetition.h"

#include <stdlib.h>
#include <string.h>

#include "core/findings.h"
#include "core/plan.h"
#include "core/review.h"
#include "core/rounds.h"
#include "core/row.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "slot/review_rows.h"
#include "txn/txn.h"

static char *add(struct txn *txn, const struct slot *slot, const struct judged_round *now)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	struct repeat repeat;
	char *list = rounds_add(row->rounds, now, row->stalled, &repeat);

	free(row->rounds);
	row->rounds = list;
	row->stalled = repeat.wasted;
	if (slot_plan(slot)->stall_limit > 0)
		return repeat.text;
	free(repeat.text);
	return NULL;
}

/* The rule that a run of an older version began with. */
static char *compare_with_last(struct txn *txn, const struct slot *slot, const struct finding_counts *counts)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	row->stalled = round_stalls(row, counts->new + counts->repeated, counts->repeated) ? row->stalled + 1 : 0;
	return row->stalled == 0 ? NULL :
	    xasprintf("%lld rounds in a row changed nothing or repeated every finding", (long long)row->stalled);
}

char *repetition_review(struct txn *txn, struct slot *slot, const struct finding_counts *counts,
    const json_t *disputed)
{
	const struct review_row *last = review_last(slot);
	const struct finding_row **findings;
	char set[FINDING_ID];
	size_t count;

	if (!slot_plan(slot)->any_round)
		return compare_with_last(txn, slot, counts);
	findings = run_rows_findings(slot->run->rows, last->number, &count);
	findings_set(findings, count, last->feedback, set);
	return add(txn, slot, &(struct judged_round){ .fix = slot->row->fix, .review = slot->row->round,
	    .tree = slot->row->tree, .findings = set, .disputed = disputed });
}

char *repetition_check(struct txn *txn, struct slot *slot, const char *finding)
{
	if (!slot_plan(slot)->any_round)
		return NULL;
	/* in place the work was not measured since the fix */
	return add(txn, slot, &(struct judged_round){ .fix = slot->row->fix, .review = ROW_NONE,
	    .tree = slot_checks_room(slot) ? slot->row->tree : NULL, .findings = finding });
}

char *repetition_obstacle(struct txn *txn, struct slot *slot, const char *why, bool again)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	char id[FINDING_ID], *findings, *repeats;

	if (!slot_plan(slot)->any_round) {
		row->stalled = again ? row->stalled + 1 : 0;
		return row->stalled == 0 ? NULL :
		    xasprintf("%lld consecutive fix attempts did not change this", (long long)row->stalled);
	}
	/* a conflict with the next task is another one, whatever the words */
	finding_id(NULL, why, id);
	findings = xasprintf("%s %s", id, row->base_commit != NULL ? row->base_commit : "");
	repeats = add(txn, slot, &(struct judged_round){ .fix = row->fix, .review = ROW_NONE,
	    .tree = row->tree, .findings = findings, .same = again });
	free(findings);
	return repeats;
}

bool repetition_stalls(const struct slot *slot)
{
	return round_is_stalled(slot->row->stalled, slot_plan(slot)->stall_limit);
}
