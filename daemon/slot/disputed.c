/* SPDX-License-Identifier: MIT */
#include "slot/disputed.h"

#include <stdlib.h>
#include <string.h>

#include "core/findings.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/review.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "prompt/markdown.h"
#include "prompt/prompt.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "slot/dismissed.h"
#include "slot/finding_report.h"
#include "txn/emit.h"
#include "txn/txn.h"

enum {
	DISPUTES_MAX = 500,	/* of a run and those that it retries */
	TEXT_KEPT = 1000,	/* code points of a finding */
	TEXT_NAMED = 200	/* ... in the list for the fixer */
};

/* ---- the last verdict ---- */

/* On the slot's work: another iteration has reviews of its own. */
static const struct review_row *last_verdict(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;

	for (size_t i = rows->nreviews; i > 0; i--) {
		const struct review_row *row = rows->reviews[i - 1];
		const struct attempt_row *a;

		if (strcmp(row->task_id, slot_task_id(slot)) != 0 || !review_is_verdict(row))
			continue;
		a = run_rows_reviewing(rows, row);
		/* NULL: of the run that this one continues */
		return a == NULL || slot_has_attempt(slot, a) ? row : NULL;
	}
	return NULL;
}

/* Its open findings; malloc'd. */
static const struct finding_row **open_of_last(const struct slot *slot, size_t *count)
{
	const struct review_row *last = last_verdict(slot);
	size_t all = 0;
	const struct finding_row **said = last != NULL ? run_rows_findings(slot->run->rows, last->number, &all) : NULL,
	    **open = xcalloc(all + 1, sizeof(*open));

	*count = 0;
	for (size_t i = 0; i < all; i++)
		if (finding_is_open(said[i]) && !dismissed_has(slot, said[i]))
			open[(*count)++] = said[i];
	return open;
}

/* Those of them that are disputed. */
static const struct finding_row **disputed_of_last(const struct slot *slot, size_t *count)
{
	size_t all;
	const struct finding_row **open = open_of_last(slot, &all);

	*count = 0;
	for (size_t i = 0; i < all; i++)
		if (disputed_has(slot, open[i]))
			open[(*count)++] = open[i];
	return open;
}

/* ---- what a fixer says ---- */

static void add(struct txn *txn, struct slot *slot, const struct finding_row *finding, const char *reason)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	struct run_row *row = txn_edit_run(txn, slot->run);
	char *issue = review_issue(finding), *text, *list, at[40];
	size_t size;

	text = prompt_cap((struct span){ issue, strlen(issue) }, TEXT_KEPT, &size);
	time_format(txn_now(txn), at, sizeof(at));
	list = disputes_add(row->disputed, &(struct dispute){ .task = slot_task_id(slot), .finding = finding->id,
	    .text = text, .by = a->agent, .reason = reason, .at = at, .run = row->id, .attempt = a->id });
	free(row->disputed);
	row->disputed = list;
	review_emit(txn, finding, FINDING_DISPUTED, a->agent, reason);
	free(issue);
	free(text);
}

static size_t count_all(const struct slot *slot)
{
	struct disputes d = disputes_read(slot->run->rows->run.disputed);
	size_t count = d.count;

	disputes_release(&d);
	return count;
}

void disputed_take(struct txn *txn, struct slot *slot, const struct dispute_line *lines, size_t count, bool more)
{
	size_t nopen, room = DISPUTES_MAX;
	const struct finding_row **open;
	struct buf unknown = { 0 };

	if (count == 0)
		return;
	open = open_of_last(slot, &nopen);
	room -= count_all(slot) < room ? count_all(slot) : room;
	for (size_t i = 0; i < count; i++) {
		const struct finding_row *finding = NULL;

		for (size_t f = 0; f < nopen && finding == NULL; f++)
			finding = strcmp(open[f]->id, lines[i].finding) == 0 ? open[f] : NULL;
		if (finding == NULL) {
			buf_separate(&unknown, ", ");
			buf_adds(&unknown, lines[i].finding);
		} else if (room == 0) {
			more = true;
		} else {
			add(txn, slot, finding, lines[i].reason);
			room--;
		}
	}
	if (unknown.size > 0)
		slot_warn(txn, slot, "its fixer disputes what is no open finding of the last review: %s", unknown.data);
	if (more)
		slot_warn(txn, slot, "its fixer disputes more findings than are recorded; the others stay as they are");
	buf_release(&unknown);
	free(open);
}

void disputed_answer(struct txn *txn, struct slot *slot, const struct finding_row *const *said, size_t count)
{
	char *list = disputes_answer(slot->run->rows->run.disputed, slot_task_id(slot), said, count);

	if (list == NULL)
		return;
	text_set(&txn_edit_run(txn, slot->run)->disputed, list);
	free(list);
}

/* ---- what is disputed ---- */

bool disputed_has(const struct slot *slot, const struct finding_row *finding)
{
	struct disputes d = disputes_read(slot->run->rows->run.disputed);
	bool has = disputes_pending(&d, slot_task_id(slot), finding->id) != NULL;

	disputes_release(&d);
	return has;
}

bool disputed_any(const struct slot *slot)
{
	size_t count;

	free(disputed_of_last(slot, &count));
	return count > 0;
}

json_t *disputed_ids(const struct slot *slot)
{
	size_t count;
	const struct finding_row **findings = disputed_of_last(slot, &count);
	json_t *ids = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(ids, json_string(findings[i]->id));
	free(findings);
	return ids;
}

/* ---- for prompts ---- */

char *disputed_text(const struct slot *slot)
{
	struct disputes d = disputes_read(slot->run->rows->run.disputed);
	size_t count;
	const struct finding_row **findings = disputed_of_last(slot, &count);
	struct buf out = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct dispute *one = disputes_pending(&d, slot_task_id(slot), findings[i]->id);

		markdown_item(&out, "- ", one->text);
		if (!slot_plan(slot)->profile->no_task)
			markdown_item(&out, "  Reason: ", one->reason);
	}
	free(findings);
	disputes_release(&d);
	return out.data;
}

char *disputed_offer(const struct slot *slot)
{
	size_t count;
	const struct finding_row **open = open_of_last(slot, &count);
	struct buf out = { 0 };

	for (size_t i = 0; i < count; i++) {
		char *issue, *text;
		size_t size;

		/* with one fixer per finding, it sees only its own */
		if (slot->row->item > 0 && open[i]->number != slot->row->item)
			continue;
		issue = review_issue(open[i]);
		text = prompt_cap((struct span){ issue, strcspn(issue, "\r\n") }, TEXT_NAMED, &size);
		buf_addf(&out, "- %s: ", open[i]->id);
		markdown_line(&out, text);
		buf_adds(&out, "\n");
		free(text);
		free(issue);
	}
	free(open);
	return out.data;
}
