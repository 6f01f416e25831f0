/* SPDX-License-Identifier: MIT */
#include "continued.h"

#include <stdlib.h>
#include <string.h>

#include "core/continuation.h"
#include "core/next_stage.h"
#include "core/profile.h"
#include "core/slot.h"
#include "model/slots.h"
#include "proto/memory.h"

static bool is_of(const struct slot_row *slot, const char *task)
{
	return slot->slot != 0 && slot->task != NULL && strcmp(slot->task, task) == 0;
}

static const struct slot_row *last_slot(const struct run_rows *rows, const char *task)
{
	const struct slot_row *last = NULL;

	for (size_t i = 0; i < rows->nslots; i++)
		if (is_of(rows->slots[i], task))
			last = rows->slots[i];
	return last;
}

/* What its work was before a merge that is not over. */
static const char *own_tree(const struct run_rows *rows, const struct slot_row *slot)
{
	const struct product_row *product = run_rows_product(rows, slot->product);

	while (product != NULL && product->kind == PRODUCT_MERGED && slot_row_has_own(slot))
		product = run_rows_product(rows, product->parent);
	return product != NULL && product->kind == PRODUCT_WORK ? product->tree : NULL;
}

static int count_reviews(const struct run_rows *rows, const char *task, const struct review_row **last)
{
	int count = 0;

	for (size_t i = 0; i < rows->nreviews; i++)
		if (strcmp(rows->reviews[i]->task_id, task) == 0) {
			*last = rows->reviews[i];
			count++;
		}
	return count;
}

/* A pass that is held is held once more: test_protect.py has that. */
static bool is_asked_about(const struct run_rows *rows, const struct slot_row *slot)
{
	for (size_t i = 0; i < rows->nholds; i++)
		if (rows->holds[i]->slot == slot->slot && rows->holds[i]->iteration == slot->iteration &&
		    hold_of_pass((enum hold_kind)rows->holds[i]->kind))
			return true;
	return false;
}

/* By its only review. */
static bool has_passed(const struct plan *plan, const struct run_rows *rows, const struct slot_row *slot)
{
	const struct review_row *review = NULL;
	const char *tree = own_tree(rows, slot);

	return count_reviews(rows, slot->task, &review) == 1 && slot->round == review->iteration && tree != NULL &&
	    object_is(review->tree, tree) && (slot_row_has_own(slot) || object_is(tree, slot->tree)) &&
	    slot->stage != SLOT_S_PASSED && slot->merge != MERGE_SENT_BACK && !is_asked_about(rows, slot) &&
	    strcmp(review->decision, plan->profile->pass_word) == 0;
}

/* Nobody has said anything about it. */
static bool is_new(const struct run_rows *rows, const struct slot_row *slot)
{
	const struct review_row *review = NULL;
	const char *tree = own_tree(rows, slot);

	return count_reviews(rows, slot->task, &review) == 0 && tree != NULL && object_is(tree, slot->tree) &&
	    slot->rounds == NULL && slot->merge == MERGE_NOT;
}

static bool fits(const struct world *w, const struct run_rows *rows, const struct task_row *task)
{
	const struct slot_row *slot = last_slot(rows, task->id);
	const struct plan *plan = world_task_plan(w, rows->run.id, task->id);

	if (slot == NULL || slot->product == ROW_NONE)
		return true;
	if (slot->tree == NULL || slot->fix > 0 || slot->hook_changes > 0 || slot->accepted != ACCEPTED_BY_NONE ||
	    slot->obstacle != NULL)
		return false;
	if (slot->question != NULL)
		return slot->round == 0;
	return is_new(rows, slot) ||
	    (plan->review && plan->integrate == INTEGRATE_MERGE && has_passed(plan, rows, slot));
}

bool continued_fits(const struct world *w, const struct run_rows *rows)
{
	const struct plan *plan = world_plan(w, rows->run.id);

	if (plan->isolation != ISOLATION_WORKTREE || plan->scope == SCOPE_RUN || rows->run.has_git != 1)
		return false;
	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->slot == 0)
			return false;
	for (size_t i = 0; i < rows->ntasks; i++)
		if (rows->tasks[i]->state != TASK_S_PASSED && !fits(w, rows, rows->tasks[i]))
			return false;
	return true;
}

static bool is_retried(const struct world *w, int64_t run)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(world_disk(w), rows != NULL ? rows->run.id : 0)) != NULL)
		if (rows->run.retry_of == run)
			return true;
	return false;
}

/* Some task of it has work, and has not passed. */
static bool has_work(const struct run_rows *rows)
{
	for (size_t i = 0; i < rows->ntasks; i++) {
		const struct slot_row *slot = last_slot(rows, rows->tasks[i]->id);

		if (rows->tasks[i]->state != TASK_S_PASSED && slot != NULL && slot->product != ROW_NONE)
			return true;
	}
	return false;
}

bool continued_merges(const struct run_rows *rows)
{
	for (size_t i = 0; i < rows->nslots; i++)
		if (slot_row_has_own(rows->slots[i]))
			return true;
	return false;
}

const struct run_rows *continued_run(const struct world *w, bool ended)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(world_disk(w), rows != NULL ? rows->run.id : 0)) != NULL)
		if (run_state_is_end((enum run_state)rows->run.state) == ended &&
		    rows->run.state != RUN_S_SUCCEEDED && has_work(rows) && continued_fits(w, rows) &&
		    !is_retried(w, rows->run.id))
			return rows;
	return NULL;
}

/* An earlier slot of the run has worked on it. */
static bool is_later(const struct run_rows *rows, const struct slot_row *slot)
{
	for (size_t i = 0; i < rows->nslots && rows->slots[i] != slot; i++)
		if (is_of(rows->slots[i], slot->task) && rows->slots[i]->attempt != ROW_NONE)
			return true;
	return false;
}

static int count_earlier(const struct run_rows *rows, const char *task)
{
	int count = 0;

	for (size_t i = 0; i < rows->nreviews; i++)
		count += rows->reviews[i]->from_run != ROW_NONE && strcmp(rows->reviews[i]->task_id, task) == 0;
	return count;
}

static int64_t content(const char *tree)
{
	return tree != NULL ? strtoll(tree + 1, NULL, 10) : 0;
}

void continued_tell(const struct world *w, const struct run_rows *rows, const struct slot_row *slot,
    struct ref_slot *story)
{
	const struct task_row *task = slot->task != NULL && slot->slot != 0 ? run_rows_task(rows, slot->task) : NULL;
	const struct fate *f;
	struct continuation c;

	if (task == NULL || task->start == NULL || is_later(rows, slot) ||
	    continuation_from_json(task->start, &c) == -1)
		return;
	f = c.answer != ROW_NONE ? world_fate(w, c.answer) : NULL;
	story->begins = c.question != NULL ? (c.reply == NULL ? 'q' : 'a') :
	    count_earlier(rows, slot->task) > 0 ? 'm' : 'i';
	story->begin_round = (int)c.round;
	story->begin_base = content(c.base_tree);
	story->begin_answer = f == NULL ? 0 : f->answer == FATE_ANSWER_NEW ? (int)c.answer : -f->answer;
	story->begin_committed = c.commit != NULL && story->commit == 'g';
	continuation_release(&c);
}

bool continued_has_result(const struct run_rows *rows)
{
	struct run_continuation c;
	/* without a branch of the run, each task has its own result */
	bool has = run_continuation_from_json(rows->run.start, &c) == 0 && c.tip != NULL &&
	    rows->run.result_branch != NULL;

	run_continuation_release(&c);
	return has;
}
