/* SPDX-License-Identifier: MIT */
#include "slot/ruling.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "core/profile.h"
#include "core/review.h"
#include "core/row.h"
#include "core/state.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/acceptance.h"
#include "slot/disputed.h"
#include "slot/left_out.h"
#include "slot/repetition.h"
#include "slot/review_rows.h"
#include "slot/round.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* The passed work contains no change, and its agent did not declare that none was needed. */
static void warn_of_nothing(struct txn *txn, struct slot *slot)
{
	const struct slot_row *row = slot->row;
	const struct attempt_row *answer = row->answer != ROW_NONE ? run_attempt(slot->run, row->answer) : NULL;
	const char *base = slot_base_tree(slot);
	char *text;

	if (answer == NULL || answer->slot != row->slot || answer->outcome != TASK_R_NO_CHANGE ||
	    base == NULL || row->tree == NULL || strcmp(row->tree, base) != 0)
		return;
	text = xasprintf("task %s: nothing was changed, no agent declared that no change was "
	    "needed, and the review passed", slot_task_id(slot));
	run_warn(txn, slot->run, text);
	free(text);
}

void ruling_warn_of_silence(struct txn *txn, struct slot *slot)
{
	char *text = xasprintf("task %s: the review passed because the reviewer reported no issue (review.silence); "
	    "it did not say that it had finished", slot_task_id(slot));

	run_warn(txn, slot->run, text);
	free(text);
}

/* word: what the round came to otherwise, "passed". */
static char *held_cause(const struct review_facts *facts, const struct slot_row *row,
    const struct attempt_row *review, const char *word)
{
	char *what = facts->cut ? left_out_text(review) : NULL,
	     *cause = round_held_cause(word, row->protected_paths, what);

	free(what);
	return cause;
}

static char *dismissed_cause(const struct review_facts *facts, const struct slot *slot,
    const struct attempt_row *review)
{
	char *users = acceptance_users(slot), *word = xasprintf("findings dismissed by %s", users),
	    *cause = held_cause(facts, slot->row, review, word);

	free(users);
	free(word);
	return cause;
}

/* The cause has no room for it. */
static void warn_of_repetition(struct txn *txn, const struct slot *slot, const char *repeats)
{
	char *text = xasprintf("task %s: %s", slot_task_id(slot), repeats);

	run_warn(txn, slot->run, text);
	free(text);
}

void ruling_decide(struct txn *txn, struct slot *slot, const struct ruling *ruling)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct plan *plan = slot_plan(slot);
	const char *reason = ruling->violation;
	struct finding_counts counts;
	struct review_facts facts = {
		.verdict = ruling->verdict,
		.pass = ruling->pass,
		.tree_changed = ruling->tree_changed,
		.cut = plan->on_cut == ON_CUT_HOLD && ruling->cut != NULL,
		.touched = row->protected_paths != NULL,
		.fix = row->fix,
		.fixes = row->fixes,
		.stall_limit = plan->stall_limit,
	};
	char *cause = NULL, *repeats = NULL;
	json_t *disputed = disputed_ids(slot);
	enum round_end end;
	enum end_kind kind;

	counts = ruling->append(txn, slot, reason != NULL ? REVIEW_VIOLATION : facts.pass ? plan->profile->pass_word :
	    plan->profile->findings_word, reason != NULL ? reason : ruling->feedback, ruling->said);
	facts.dismissed = reason == NULL && !facts.pass && counts.dismissed > 0 && counts.open == 0;
	/* git may still object to passed work */
	if (reason != NULL)
		row->stalled = 0;
	else if (!facts.pass && !facts.dismissed)
		repeats = repetition_review(txn, slot, &counts, disputed);
	if (reason != NULL || !facts.pass)
		text_set(&row->obstacle, NULL);
	facts.stalled = row->stalled;
	round_judged(txn, slot);
	end = review_classify(&facts);
	if (end == ROUND_VIOLATION)
		cause = xasprintf("reviewer contract violation: %s", reason);
	else if (end == ROUND_EXHAUSTED || end == ROUND_STALLED)
		cause = round_cause(plan, end, row, repeats);
	else if (end == ROUND_CUT || end == ROUND_PROTECTED)
		cause = held_cause(&facts, row, ruling->cut, "passed");
	else if (end == ROUND_DISMISSED)
		cause = acceptance_append(txn, slot);
	else if (end == ROUND_DISMISSED_HELD)
		cause = dismissed_cause(&facts, slot, ruling->cut);
	if (end == ROUND_EXHAUSTED && repeats != NULL && !round_names_repetition(plan))
		warn_of_repetition(txn, slot, repeats);
	if (end == ROUND_PASS)
		warn_of_nothing(txn, slot);
	if (end == ROUND_PASS && ruling->silent)
		ruling_warn_of_silence(txn, slot);
	kind = end == ROUND_DISMISSED_HELD && facts.touched ? END_PROTECTED : round_end_kind(end);
	round_over(txn, slot, end, cause != NULL ? CAUSE(kind, cause) : NO_CAUSE);
	json_decref(disputed);
	free(cause);
	free(repeats);
}
