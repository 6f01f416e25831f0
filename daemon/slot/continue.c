/* SPDX-License-Identifier: MIT */
#include "slot/continue.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/findings.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/review.h"
#include "core/row.h"
#include "core/slot.h"
#include "evidence/evidence.h"
#include "evidence/product.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "slot/dismissed.h"
#include "slot/disputed.h"
#include "slot/open_question.h"
#include "slot/review_rows.h"
#include "slot/round.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* An earlier slot of the run has worked on the task. */
static bool has_begun(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;

	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i] != slot->row && rows->slots[i]->slot != 0 && !slot_row_is_beside(rows->slots[i]) &&
		    text_equal(rows->slots[i]->task, slot->row->task) && rows->slots[i]->attempt != ROW_NONE)
			return true;
	return false;
}

/* Nothing was added to the work under review since the run that is continued. */
static bool is_whole(const struct run *run, const struct run_continuation *from)
{
	for (size_t i = 0; i < run->rows->nattempts; i++)
		if (!role_is_command((enum role)run->rows->attempts[i]->role))
			return false;
	return run->plan.isolation != ISOLATION_WORKTREE || object_is(run->rows->run.result_commit, from->tip) ||
	    (run->rows->run.result_commit == NULL && from->tip == NULL);
}

static bool work_of_review(const struct run *run, struct continuation *c)
{
	struct run_continuation from;
	bool found;

	if (run_continuation_from_json(run->rows->run.start, &from) == -1)
		return false;
	found = from.whole != NULL && is_whole(run, &from);
	if (found) {
		*c = *from.whole;
		*from.whole = (struct continuation){ .answer = ROW_NONE, .product = ROW_NONE };
	}
	run_continuation_release(&from);
	return found;
}

bool continue_work(const struct slot *slot, struct continuation *c)
{
	const struct task_row *task = slot->row != NULL ? slot_task(slot) : NULL;

	*c = (struct continuation){ .answer = ROW_NONE, .product = ROW_NONE };
	if (slot->row == NULL || slot->row->product != ROW_NONE)
		return false;
	if (slot->row->slot == 0)
		return work_of_review(slot->run, c);
	return task != NULL && task->start != NULL && !has_begun(slot) && continuation_from_json(task->start, c) == 0;
}

/* The last review of the work, if it was taken over and is about this tree; NULL: there is none. */
static const struct review_row *earlier_review(const struct slot *slot, const char *tree)
{
	const struct review_row *last = review_last(slot);

	return last != NULL && last->from_run != ROW_NONE && object_is(last->tree, tree) ? last : NULL;
}

/* A person's word on the work; NULL: the last one was by a reviewer, or there is none. */
static const char *human_word(const struct review_row *last)
{
	return last != NULL && last->source != NULL && strcmp(last->source, "human") == 0 ? last->decision : NULL;
}

/* Users dismissed what was to be fixed. */
static bool is_dismissed(const struct slot *slot, const struct review_row *review)
{
	bool any = false;
	size_t count;
	const struct finding_row **findings = run_rows_findings(slot->run->rows, review->number, &count);

	for (size_t i = 0; i < count; i++) {
		bool dismissed = dismissed_has(slot, findings[i]);

		if (finding_is_open(findings[i]) && !dismissed)
			return false;
		any |= dismissed && findings[i]->state != FINDING_RESOLVED;
	}
	return any;
}

static enum earlier_verdict earlier_verdict(const struct slot *slot, const char *tree)
{
	const struct review_row *last = earlier_review(slot, tree), *reviewer = review_last_verdict(slot);
	const struct profile *profile = slot_plan(slot)->profile;
	const char *human = human_word(last);

	if (last == NULL || slot->row->again == 1 || !slot_begins_review(slot))
		return EARLIER_NONE;
	if (human == NULL && strcmp(last->decision, profile->pass_word) == 0)
		return EARLIER_PASS;
	/* a person has let it pass although its prompt was cut */
	if (human != NULL && strcmp(human, profile->pass_word) == 0)
		return EARLIER_PASS;
	if (human != NULL && strcmp(human, REVIEW_REJECTED) == 0 && slot->row->message != NULL)
		return EARLIER_FINDINGS;
	if (reviewer == NULL || !object_is(reviewer->tree, tree) ||
	    strcmp(reviewer->decision, profile->findings_word) != 0)
		return EARLIER_NONE;
	/* if users dismissed them all, or its fixer disputed some, it is reviewed again: only a
	 * verdict makes that count */
	return is_dismissed(slot, reviewer) || disputed_any(slot) ? EARLIER_NONE : EARLIER_FINDINGS;
}

/* A person has accepted, or refused, the work. */
static void take_word(struct slot_row *row, const struct review_row *last)
{
	const char *human = human_word(last), *text = last != NULL ? last->feedback : NULL;
	bool silent = text == NULL || text[strspn(text, " \t\r\n")] == '\0';
	char *cause;

	if (human == NULL || row->again == 1)
		return;
	if (strcmp(human, REVIEW_REJECTED) == 0 && !silent)
		text_set(&row->message, text);
	if (strcmp(human, REVIEW_ACCEPTED) != 0)
		return;
	cause = xasprintf("accepted: %s%s%s", last->reviewer_agent, silent ? "" : ": ", silent ? "" : text);
	slot_set_cause(row, CAUSE(END_APPROVED, cause));
	row->accepted = ACCEPTED_BY_HUMAN;
	free(cause);
}

/* Beside the work; with new settings, these too. */
static void take_beside(const struct run *run, struct slot_row *row, const struct continuation *c)
{
	struct run_continuation from;
	bool found = run_continuation_from_json(run->rows->run.start, &from) == 0;

	text_set(&row->beside, found && from.settings != NULL ? from.beside : c->beside);
	if (found)
		run_continuation_release(&from);
}

static void take(struct txn *txn, struct slot *slot, const struct continuation *c)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct plan *plan = slot_plan(slot);

	text_set(&row->tree, c->tree);
	if (c->base_commit != NULL && row->slot != 0)
		text_set(&row->base_commit, c->base_commit);
	/* what is on a shared disk now has the work in it; NULL: that of the run */
	if (row->slot != 0 && (c->base_tree != NULL || row->worktree == NULL))
		text_set(&row->base_tree, c->base_tree);
	text_set(&row->commit_id, c->commit);
	take_beside(slot->run, row, c);
	text_set(&row->obstacle, c->conflict);
	text_set(&row->answer_hash, c->answer_hash);
	text_set(&row->previous_tree, c->previous_tree);
	text_set(&row->previous_answer_hash, c->previous_answer_hash);
	text_set(&row->rounds, c->rounds);
	text_set(&row->question, c->question);
	text_set(&row->reply, c->reply);
	row->earlier_answer = c->answer;
	row->again = c->again ? 1 : ROW_NONE;
	row->round = c->round;
	row->fix = c->fix;
	row->fixes = c->fix + plan->max_fixes;
	product_continue(txn, slot, c);
	take_word(row, earlier_review(slot, c->tree));
	/* as after rework: a fix is what is asked for */
	if (plan->max_fixes == 0 && (c->conflict != NULL || earlier_verdict(slot, c->tree) == EARLIER_FINDINGS))
		row->fixes++;
	txn_emit(txn, "slot.continued", row->run, json_pack("{s:I, s:s, s:I, s:s}", "slot", (json_int_t)row->slot,
	    "task", slot_task_id(slot), "continues", (json_int_t)c->run, "tree", c->tree));
}

/* What the slot begins with, in the place where the work lies. */
static enum slot_stage first(const struct slot *slot, const struct continuation *c)
{
	const struct plan *plan = slot_plan(slot);
	bool judged = c->question != NULL || c->conflict != NULL || earlier_verdict(slot, c->tree) != EARLIER_NONE;

	/* it was implemented, and waits for the review of the run */
	if (c->merged && plan->review && plan->scope == SCOPE_RUN && slot->row->slot != 0)
		return SLOT_S_IMPLEMENTED;
	if (judged || !slot_begins_review(slot))
		return SLOT_S_MEASURING;
	return stage_after_work((int64_t)strings_count(plan->checks), true, plan_checks_room(plan));
}

/* What the prompt of that review left out, malloc'd; NULL: nothing. */
static char *earlier_cut(const struct slot *slot)
{
	const struct task_row *task = slot_task(slot);
	struct run_continuation from;
	struct continuation c;
	char *cut = NULL;

	if (slot->row->slot != 0 && continuation_from_json(task->start, &c) == 0) {
		cut = xstrdup(c.cut);
		continuation_release(&c);
	} else if (slot->row->slot == 0 && run_continuation_from_json(slot->run->rows->run.start, &from) == 0) {
		cut = from.whole != NULL ? xstrdup(from.whole->cut) : NULL;
		run_continuation_release(&from);
	}
	return cut;
}

enum round_end continue_end(const struct slot *slot, char **cause)
{
	const char *touched = slot->row->protected_paths;
	char *cut = slot_plan(slot)->on_cut == ON_CUT_HOLD ? earlier_cut(slot) : NULL;
	struct review_facts facts = { .verdict = true, .pass = true, .cut = cut != NULL, .touched = touched != NULL };
	enum round_end end = human_word(review_last(slot)) == NULL ? review_classify(&facts) : ROUND_PASS;

	*cause = end != ROUND_PASS ? round_held_cause("passed", touched, cut) : NULL;
	free(cut);
	return end;
}

enum slot_stage continue_before_work(struct txn *txn, struct slot *slot, enum slot_stage next)
{
	bool whole = slot->row->slot == 0, work = whole ? next == SLOT_S_MEASURING || next == SLOT_S_CHECKING :
	    next == SLOT_S_IMPLEMENTING;
	struct continuation c;
	enum slot_stage to;

	if ((!work && next != SLOT_S_CREATING_WORKTREE) || !continue_work(slot, &c))
		return next;
	to = first(slot, &c);
	if (!work && to != SLOT_S_IMPLEMENTED) {
		continuation_release(&c);
		return next;
	}
	take(txn, slot, &c);
	to = first(slot, &c);
	continuation_release(&c);
	return to;
}

void continue_laid(struct txn *txn, struct slot *slot, bool laid)
{
	const struct task_row *task = slot_task(slot);
	char *text;

	if (laid || slot->row->tree == NULL)
		return;
	text_set(&txn_edit_slot(txn, slot)->tree, NULL);
	question_over(txn, slot);
	if (task == NULL) {
		text_set(&txn_edit_run(txn, slot->run)->start, NULL);
		return;
	}
	text = xasprintf("task %s: its work of run %lld is no longer there, so it is implemented again", task->id,
	    (long long)task->continues);
	run_warn(txn, slot->run, text);
	free(text);
	text_set(&txn_edit_task(txn, task)->start, NULL);
	txn_edit_task(txn, task)->continues = ROW_NONE;
}

/* The slot's work is still that of the earlier run: no agent of this one has worked on it, and no
 * merge of this one is being judged. */
static bool is_earlier(const struct slot *slot)
{
	const struct slot_row *row = slot->row;
	const struct product_row *product = slot_product(slot);
	bool own = row->answer != ROW_NONE && run_attempt(slot->run, row->answer)->slot == row->slot;

	return !own && !slot_merge_waits((enum slot_merge)row->merge) && product != NULL &&
	    (product->from_run != ROW_NONE || row->earlier_answer != ROW_NONE);
}

void continue_facts(const struct slot *slot, const char *tree, struct measure_facts *facts)
{
	const struct slot_row *row = slot->row;
	const struct product_row *product = slot_product(slot);
	bool same = is_earlier(slot) && object_is(tree, row->tree);

	facts->whole = row->slot == 0;
	if (!same)
		return;
	facts->unchanged = false;
	facts->earlier = row->obstacle != NULL ? EARLIER_FINDINGS : earlier_verdict(slot, tree);
	facts->merged = product->kind == PRODUCT_MERGED && row->again != 1;
	/* a commit agent is not paid again */
	facts->committed = row->commit_id != NULL && slot_plan(slot)->commit == COMMIT_MODE_AGENT && row->again != 1;
}

bool continue_decides(const struct measure_facts *facts, enum slot_stage to)
{
	bool judged = to == SLOT_S_CHECKOUT || to == SLOT_S_CHECKING || to == SLOT_S_REVIEWING || to == SLOT_S_PANEL;

	return facts->earlier != EARLIER_NONE ||
	    ((facts->merged || facts->committed) && !judged && to != SLOT_S_FAILED);
}

/* The pass counts in this run as well. */
static void reuse_pass(struct txn *txn, struct slot *slot)
{
	const struct review_row *last = review_last(slot);
	bool human = human_word(last) != NULL;
	struct evidence_row *row = evidence_new(slot, human ? EVIDENCE_HUMAN : EVIDENCE_REVIEW,
	    last->reviewer_agent, EVIDENCE_GREEN);

	row->review = last->number;
	row->from_run = last->from_run;
	evidence_append(txn, slot->run, row);
}

void continue_measured(struct txn *txn, struct slot *slot, const struct measure_facts *facts)
{
	if (slot_begins_review(slot))
		round_forgo(txn, slot);
	if (facts->earlier == EARLIER_PASS)
		reuse_pass(txn, slot);
}
