/* SPDX-License-Identifier: MIT */
#include "evidence/evidence.h"

#include <stdbool.h>
#include <string.h>

#include "core/chain.h"
#include "evidence/product.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "txn/txn.h"

void evidence_append(struct txn *txn, struct run *run, struct evidence_row *row)
{
	struct run_row *r = txn_edit_run(txn, run);
	char hex[DIGEST_HEX];

	if (!run_is_recorded(run)) {
		row_free(ROW_EVIDENCE, row);
		return;
	}
	row->run = r->id;
	row->number = r->evidence_count + 1;
	row->created_at = txn_now(txn);
	row->submitter = r->owner;
	/* a run that began without entries has no version here: one that has lost them does */
	if (r->entry_count != ROW_NONE)
		row->daemon = xstrdup(RLD_VERSION);
	row->previous_hash = xstrdup(r->evidence_head);
	record_hash(ROW_EVIDENCE, row, hex);
	row->hash = xstrdup(hex);
	r->evidence_count = row->number;
	text_set(&r->evidence_head, hex);
	txn_add(txn, run, ROW_EVIDENCE, row);
}

/* SHA-256 of the settings that the slot works by, as they are in their row. */
static char *policy_hash(const struct slot *slot)
{
	const struct task_row *task = slot_task(slot);
	const char *plan = task != NULL && task->plan != NULL ? task->plan : slot->run->rows->run.plan;
	char hex[DIGEST_HEX];

	digest_hex(plan, strlen(plan), hex);
	return xstrdup(hex);
}

/* Who decided the newest hold of the slot. */
static void set_decider(const struct slot *slot, struct evidence_row *row)
{
	const struct run_rows *rows = slot->run->rows;

	for (size_t i = rows->nholds; i > 0; i--) {
		const struct hold_row *hold = rows->holds[i - 1];

		if (hold->iteration != slot->row->iteration || hold->slot != slot->row->slot)
			continue;
		row->by_uid = hold->by_uid;
		row->by_pid = hold->by_pid;
		row->by_attempt = hold->by_attempt;
		return;
	}
}

struct evidence_row *evidence_new(const struct slot *slot, enum evidence_kind kind, const char *subject,
    enum evidence_result result)
{
	/* what a check sees in a work tree is a product only when it is measured afterwards */
	bool measured = kind != EVIDENCE_CHECK || slot_checks_room(slot);
	const struct product_row *product = measured ? slot_product(slot) : NULL;
	struct evidence_row *row = row_new(ROW_EVIDENCE);

	row->kind = (int)kind;
	row->subject = xstrdup(subject);
	row->result = (int)result;
	row->task_id = xstrdup(slot_task_id(slot));
	row->policy_hash = policy_hash(slot);
	if (product != NULL) {
		row->product = product->number;
		row->tree = xstrdup(product->tree);
	}
	return row;
}

enum judged_in judged_in(const struct slot *slot, bool in_room)
{
	if (!in_room)
		return JUDGED_IN_PLACE;
	return slot_reuses_room(slot) ? JUDGED_IN_REUSED_ROOM : JUDGED_IN_CLEAN_ROOM;
}

static void set_attempt(const struct slot *slot, struct evidence_row *row, const struct attempt_row *a)
{
	row->room = judged_in(slot, slot_has_checkout(slot));
	row->attempt = a->id;
	row->exit_code = a->exit_code;
	row->output_hash = xstrdup(a->output_hash);
}

void evidence_review(struct txn *txn, const struct slot *slot, const struct review_row *review,
    enum evidence_result result, const struct judge_process *by)
{
	bool human = review->attempt == ROW_NONE && review->votes == NULL;
	struct evidence_row *row = evidence_new(slot, human ? EVIDENCE_HUMAN : review->reviewer != NULL ?
	    EVIDENCE_VOTE : EVIDENCE_REVIEW,
	    review->reviewer_agent, result);

	row->review = review->number;
	if (human && by != NULL) {
		row->by_uid = by->uid;
		row->by_pid = by->pid;
		row->by_attempt = by->attempt;
	} else if (human) {
		set_decider(slot, row);
	} else if (review->attempt != ROW_NONE) {
		set_attempt(slot, row, run_attempt(slot->run, review->attempt));
	}
	evidence_append(txn, slot->run, row);
}

void evidence_asked(struct txn *txn, const struct slot *slot, const struct attempt_row *a)
{
	struct evidence_row *row = evidence_new(slot, a->reviewer != NULL ? EVIDENCE_VOTE : EVIDENCE_REVIEW, a->agent,
	    EVIDENCE_VOID);

	set_attempt(slot, row, a);
	evidence_append(txn, slot->run, row);
}

void evidence_rework(struct txn *txn, const struct slot *slot, const char *by)
{
	struct evidence_row *row = evidence_new(slot, EVIDENCE_HUMAN, by, EVIDENCE_RED);

	set_decider(slot, row);
	evidence_append(txn, slot->run, row);
}
