/* SPDX-License-Identifier: MIT */
#include "slot/round.h"

#include <jansson.h>
#include <stdlib.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/review.h"
#include "core/row.h"
#include "core/state.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "slot/machine.h"
#include "slot/merge_state.h"
#include "slot/repetition.h"
#include "slot/review_rows.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* The answer under review is that of the last fixer. */
void round_begin(struct txn *txn, const struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	/* without an answer in this run, it is that of the run that it continues */
	if (row->answer != ROW_NONE)
		text_set(&row->answer_hash, run_attempt(slot->run, row->answer)->answer_hash);
	row->check = row->gap = 0;
	row->failed_check = ROW_NONE;
	row->asked = ROW_NONE;
	text_set(&row->asked_why, NULL);
	row->round++;
}

void round_forgo(struct txn *txn, const struct slot *slot)
{
	txn_edit_slot(txn, slot)->round--;
}

void round_judged(struct txn *txn, const struct slot *slot)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	text_set(&row->previous_tree, row->tree);
	text_set(&row->previous_answer_hash, row->answer_hash);
}

void review_skip(struct txn *txn, struct slot *slot, enum skip_kind kind)
{
	const struct plan *plan = slot_plan(slot);
	const char *reason = kind == plan->skip_kind ? plan->skip_reason : skip_text(kind);
	char *text = xasprintf("not reviewed: %s", reason);

	slot_set_reason(txn_edit_slot(txn, slot), REASON(WAIT_NOT_REVIEWED, text));
	free(text);
	txn_emit(txn, "review.skipped", slot->row->run, json_pack("{s:I, s:s, s:s, s:s}",
	    "slot", (json_int_t)slot->row->slot, "task", slot_task_id(slot), "reason", reason,
	    "skip_kind", state_name(&skip_kind_names, (int)kind)));
}

/* Record known issues of the run: remaining findings, and a failing check. Returns their number. */
static int64_t keep_issues(struct txn *txn, struct slot *slot, const char *why)
{
	const struct review_row *last = review_last(slot);
	char **issues = review_issues(slot);
	size_t count;

	if (slot->row->failed_check != ROW_NONE)
		strings_append(&issues, why);
	else if (strings_count(issues) == 0 && last != NULL && last->feedback != NULL)
		strings_append(&issues, last->feedback);
	count = strings_count(issues);
	if (count > 0)
		run_known_issues(txn, slot->run, issues);
	strings_free(issues);
	return (int64_t)count;
}

char *round_partial(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;

	if (slot->row->slot != 0 || slot_plan(slot)->profile->carrier != CARRIER_FILE ||
	    slot_plan(slot)->commit == COMMIT_MODE_NONE)
		return NULL;
	for (size_t i = 0; i < rows->ntasks; i++)
		if (rows->tasks[i]->state == TASK_S_FAILED)
			return xasprintf("the review passed, but task %s failed, and this profile commits all tasks "
			    "or none", rows->tasks[i]->id);
	return NULL;
}

void round_commit(struct txn *txn, struct slot *slot, enum slot_stage to, const struct move_why *why)
{
	bool commits = to == SLOT_S_COMMITTING || to == SLOT_S_COMMIT_AGENT;
	char *partial = commits && slot_plan(slot)->integrate != INTEGRATE_MERGE ? round_partial(slot) : NULL;

	if (partial != NULL)
		slot_fail(txn, slot, CAUSE(END_PARTIAL, partial));
	else
		slot_move(txn, slot, slot_stage(slot), to, why);
	free(partial);
}

/* Checks in the work tree come before the work is measured: what they fail may touch anything. */
static bool is_unmeasured(const struct slot *slot)
{
	return slot_stage(slot) == SLOT_S_CHECKING && !slot_checks_room(slot) &&
	    slot->run->rows->run.has_git == 1;
}

/* What a human must know besides the cause; NULL: nothing. malloc'd. */
static char *touched_text(const struct slot *slot)
{
	const char *paths = slot->row->protected_paths;

	if (strings_count(slot_plan(slot)->protect) == 0)
		return NULL;
	if (is_unmeasured(slot))
		return xstrdup("the work was not compared with review.protect yet");
	return paths != NULL ? xasprintf("the work touches protected paths: %s", paths) : NULL;
}

char *round_held_cause(const char *word, const char *touched, const char *cut)
{
	if (touched == NULL)
		return xasprintf("%s, but %s", word, cut);
	return xasprintf("%s, but the work touches protected paths: %s%s%s", word, touched, cut != NULL ? "; " : "",
	    cut != NULL ? cut : "");
}

void round_over(struct txn *txn, struct slot *slot, enum round_end end, struct cause why)
{
	struct run *run = slot->run;
	bool has_git = run->rows->run.has_git == 1;
	struct move_why move = { .reason = MOVE_DONE, .cause = why, .hold = round_hold(end) };
	char *touched = touched_text(slot), *text = NULL;

	switch (round_policy(slot_plan(slot), end, touched != NULL)) {
	case BAD_END_ACCEPT:
		move.reason = MOVE_ACCEPTED;
		text = xasprintf("accepted: %s", why.text);
		move.cause = CAUSE(END_WAIVED, text);
		slot_warn(txn, slot, "%s", text);
		break;
	case BAD_END_KNOWN_ISSUES:
		move.reason = MOVE_ACCEPTED;
		text = xasprintf("known issues: %lld; %s", (long long)keep_issues(txn, slot, why.text), why.text);
		move.cause = CAUSE(END_KNOWN_ISSUES, text);
		break;
	case BAD_END_HOLD:
		if (touched != NULL && end != ROUND_PROTECTED && end != ROUND_DISMISSED_HELD) {
			text = xasprintf("%s; %s", why.text, touched);
			move.cause = CAUSE(why.kind, text);
		}
		break;
	case BAD_END_ASK:
		move.reason = MOVE_RETRY;
		break;
	case BAD_ENDS:
		move.reason = end == ROUND_DISMISSED ? MOVE_ACCEPTED : MOVE_DONE;
		break;
	case BAD_END_FAIL:
		break;
	}
	round_commit(txn, slot, stage_after_round(slot_plan(slot), end, touched != NULL, has_git,
	    slot_judges_merge(slot)), &move);
	free(touched);
	free(text);
}

#define MERGED " on the merge with the work of other tasks"

void round_check_failed(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	enum round_end end = check_classify(slot->row->fix, slot->row->fixes);
	char *repeats = repetition_check(txn, slot, a->finding), *cause;
	bool merged = slot_merge_waits((enum slot_merge)slot->row->merge);
	enum end_kind kind;

	if (slot_checks_room(slot) && !slot_checks_merge(slot))
		round_forgo(txn, slot);
	if (end == ROUND_FINDINGS && repeats != NULL && repetition_stalls(slot))
		end = ROUND_STALLED;
	kind = end == ROUND_STALLED ? END_STALLED : merged ? END_CONFLICT : END_CHECK;
	if (end == ROUND_STALLED)
		cause = xasprintf("stalled: %s: check `%s` still fails%s: %s", repeats, a->agent,
		    merged ? MERGED : "", a->cause);
	else
		cause = xasprintf("check `%s` still fails%s after %lld fix attempt(s): %s%s%s", a->agent,
		    merged ? MERGED : "", (long long)slot->row->fix, a->cause, repeats != NULL ? "; " : "",
		    repeats != NULL ? repeats : "");
	/* what passed alone does not pass with the work of others: a conflict without markers */
	if (merged && end != ROUND_FINDINGS)
		end = ROUND_CONFLICT;
	txn_edit_slot(txn, slot)->failed_check = a->id;
	merge_send_back(txn, slot);
	round_over(txn, slot, end, end == ROUND_FINDINGS ? NO_CAUSE : CAUSE(kind, cause));
	free(cause);
	free(repeats);
}
