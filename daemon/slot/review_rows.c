/* SPDX-License-Identifier: MIT */
/* The review log of a run: its rows, their findings and the hash chain. */
#include "slot/review_rows.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/chain.h"
#include "core/dismissal.h"
#include "core/findings.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "evidence/evidence.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "slot/dismissed.h"
#include "slot/disputed.h"
#include "slot/finding_report.h"
#include "txn/txn.h"
#include "verdict/verdict.h"

const struct review_row *review_last(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;
	const struct review_row *last = NULL;

	for (size_t i = rows->nreviews; i > 0; i--) {
		const struct review_row *row = rows->reviews[i - 1];
		const struct attempt_row *a;

		/* the votes of a panel are no review, its decision is */
		if (strcmp(row->task_id, slot_task_id(slot)) != 0 || row->reviewer != NULL)
			continue;
		if (last == NULL)
			last = row;
		if (row->from_run != ROW_NONE)
			return last;	/* of the run that this one continues */
		a = run_rows_reviewing(rows, row);
		if (a == NULL)
			continue;	/* a human decision about the previous review */
		/* each iteration has its own review of the whole run */
		return slot_has_attempt(slot, a) ? last : NULL;
	}
	return last;
}

/* A reviewer has said it, not a human. */
static bool is_of_reviewer(const struct review_row *row)
{
	return row->attempt != ROW_NONE || row->votes != NULL ||
	    (row->from_run != ROW_NONE && !text_equal(row->source, "human"));
}

/* Those of the last review. */
static const struct finding_row **last_findings(const struct slot *slot, size_t *count)
{
	const struct review_row *last = review_last(slot);

	*count = 0;
	return last != NULL ? run_rows_findings(slot->run->rows, last->number, count) : NULL;
}

const struct finding_row *review_item(const struct slot *slot, int64_t after)
{
	size_t count;
	const struct finding_row **findings = last_findings(slot, &count);

	for (size_t i = 0; i < count; i++)
		if (findings[i]->number > after && finding_is_open(findings[i]) && !dismissed_has(slot, findings[i]))
			return findings[i];
	return NULL;
}

const struct finding_row *review_finding(const struct slot *slot, int64_t number)
{
	size_t count;
	const struct finding_row **findings = last_findings(slot, &count);

	for (size_t i = 0; i < count; i++)
		if (findings[i]->number == number)
			return findings[i];
	return NULL;
}

int64_t review_items_left(const struct slot *slot)
{
	const struct finding_row *item;
	int64_t left = 0, at = slot->row->item;

	while (at > 0 && (item = review_item(slot, at)) != NULL) {
		at = item->number;
		left++;
	}
	return left;
}

char **review_issues(const struct slot *slot)
{
	const struct finding_row *item = review_item(slot, 0);
	char **issues = NULL;

	for (; item != NULL; item = review_item(slot, item->number)) {
		char *text = review_issue(item);

		strings_append(&issues, text);
		free(text);
	}
	return issues;
}

char *review_findings_json(const struct slot *slot)
{
	const struct review_row *last = review_last(slot);
	const struct finding_row **findings;
	json_t *list;
	size_t count;
	char *text;

	if (last == NULL)
		return NULL;
	list = json_array();
	findings = run_rows_findings(slot->run->rows, last->number, &count);
	for (size_t i = 0; i < count; i++) {
		json_t *item;

		/* with one fixer per finding, it sees only its own */
		if (slot->row->item > 0 && findings[i]->number != slot->row->item)
			continue;
		item = json_pack("{s:s, s:s*, s:s*, s:s*, s:s}", "id", findings[i]->id, "file", findings[i]->file,
		    "severity", findings[i]->severity, "text", findings[i]->text,
		    "state", state_name(&finding_state_names, dismissed_has(slot, findings[i]) ? FINDING_DISMISSED :
		    disputed_has(slot, findings[i]) ? FINDING_DISPUTED : findings[i]->state));
		if (findings[i]->line != ROW_NONE)
			json_object_set_new(item, "line", json_integer(findings[i]->line));
		json_array_append_new(list, item);
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

/* By the rule that the run began with. */
static void make_id(const struct slot *slot, const struct verdict_finding *f, char id[FINDING_ID])
{
	if (slot_plan(slot)->any_round)
		finding_id(f->file, f->text, id);
	else
		finding_id_first(f->file, f->text, id);
}

static struct finding_row *make_finding(const struct slot *slot, int64_t review, const struct verdict_finding *f)
{
	struct finding_row *row = row_new(ROW_FINDING);
	char id[FINDING_ID];

	make_id(slot, f, id);
	row->run = slot->row->run;
	row->review = review;
	row->id = xstrdup(id);
	row->file = xstrdup(f->file);
	row->line = f->line > 0 ? f->line : ROW_NONE;
	row->severity = xstrdup(f->severity);
	row->text = xstrdup(f->text);
	return row;
}

/* A human's decision has no findings, and settles none: the work may be reviewed again, because a
 * hook changed its commit. */
const struct review_row *review_last_verdict(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;
	const struct review_row *last = review_last(slot);

	if (last == NULL || is_of_reviewer(last))
		return last;
	for (size_t i = rows->nreviews; i > 0; i--)
		if (strcmp(rows->reviews[i - 1]->task_id, slot_task_id(slot)) == 0 &&
		    rows->reviews[i - 1]->reviewer == NULL && is_of_reviewer(rows->reviews[i - 1]))
			return rows->reviews[i - 1];
	return NULL;
}

/* What a reviewer wrote beside its list counts as soon as nothing in the list does: no user has
 * decided about it. */
static bool is_beside_open(const struct slot *slot, const struct dismissals *dismissed, const struct verdict *v,
    struct finding_row *const *rows, size_t count)
{
	/* a user may dismiss the rest of a vote before the decision */
	bool vote = slot->row->voter_of != ROW_NONE;

	for (size_t i = 0; i < count && !vote; i++)
		if (dismissals_find(dismissed, slot_task_id(slot), rows[i]->id) == NULL)
			return false;
	return count > 0 && v->beside != NULL;
}

/* Those that the reviewer gave. *count: their number. */
static struct finding_row **said_findings(const struct slot *slot, const struct verdict *v, size_t *count)
{
	struct dismissals dismissed = dismissals_read(slot->run->rows->run.dismissed);
	struct finding_row **rows = xcalloc(v->nfindings + 1, sizeof(*rows));
	int64_t review = slot->run->rows->run.review_count + 1;

	for (*count = 0; *count < v->nfindings; ++*count)
		rows[*count] = make_finding(slot, review, &v->findings[*count]);
	if (is_beside_open(slot, &dismissed, v, rows, *count))
		rows[(*count)++] = make_finding(slot, review, &(struct verdict_finding){ .text = v->beside });
	dismissals_release(&dismissed);
	return rows;
}

/* Some states are decided before. */
static void compare(struct finding_row *const *rows, size_t said, const struct finding_row *const *before,
    size_t nbefore, struct finding_counts *counts)
{
	bool *outvoted = xcalloc(said, sizeof(*outvoted));

	for (size_t i = 0; i < said; i++)
		outvoted[i] = rows[i]->state == FINDING_OUTVOTED;
	*counts = findings_compare(rows, said, before, nbefore);
	for (size_t i = 0; i < said; i++)
		if (outvoted[i])
			rows[i]->state = FINDING_OUTVOTED;
	free(outvoted);
}

/* The findings of a review: its own, then earlier open ones that are gone. own: said of them,
 * taken over, not the array. verdict: there is one; without it nothing is resolved. */
static struct finding_row **make_findings(const struct slot *slot, struct finding_row *const *own, size_t said,
    bool verdict, size_t *count, struct finding_counts *counts)
{
	int64_t review = slot->run->rows->run.review_count + 1;
	const struct review_row *last = review_last_verdict(slot);
	const struct finding_row **old = NULL, **before;
	struct dismissals dismissed = dismissals_read(slot->run->rows->run.dismissed);
	struct finding_row **rows;
	size_t nold = 0, nbefore = 0;

	if (last != NULL)
		old = run_rows_findings(slot->run->rows, last->number, &nold);
	before = xcalloc(nold, sizeof(*before));
	for (size_t i = 0; i < nold; i++)
		if (old[i]->state != FINDING_RESOLVED && old[i]->state != FINDING_DISMISSED &&
		    old[i]->state != FINDING_OUTVOTED)
			before[nbefore++] = old[i];
	rows = xcalloc(said + nbefore, sizeof(*rows));
	if (said > 0)
		memcpy(rows, own, said * sizeof(*rows));
	compare(rows, said, before, nbefore, counts);
	dismissals_mark(&dismissed, slot_task_id(slot), rows, said, counts);
	for (size_t i = 0; i < said; i++)
		counts->open += finding_is_open(rows[i]);
	*count = said;
	for (size_t i = 0; i < nbefore && verdict; i++) {
		if (findings_have((const struct finding_row *const *)rows, *count, before[i]->id))
			continue;
		rows[*count] = row_copy(ROW_FINDING, before[i]);
		rows[*count]->review = review;
		text_set(&rows[*count]->reviewers, NULL);
		rows[*count]->state = FINDING_RESOLVED;
		if (dismissals_find(&dismissed, slot_task_id(slot), before[i]->id) != NULL) {
			rows[*count]->state = FINDING_DISMISSED;
			counts->resolved--;
		}
		++*count;
	}
	for (size_t i = 0; i < *count; i++)
		rows[i]->number = (int64_t)i + 1;
	free(before);
	dismissals_release(&dismissed);
	return rows;
}

static char *ids_json(struct finding_row *const *findings, size_t count)
{
	json_t *ids = json_array();
	char *text;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(ids, json_string(findings[i]->id));
	text = json_dumps(ids, JSON_COMPACT);
	json_decref(ids);
	return text;
}

/* A human decision about a round that already has a review counts as another round: numbers in the
 * log are unique. */
static int64_t human_round(const struct slot *slot)
{
	const struct review_row *last = review_last(slot);

	return last != NULL && last->iteration >= slot->row->round ? last->iteration + 1 : slot->row->round;
}

/* What the review means for the product, whatever the profile's words. */
static enum evidence_result result_of(const struct slot *slot, const struct review_row *row)
{
	const struct profile *profile = slot_plan(slot)->profile;

	if (row->attempt == ROW_NONE && row->votes == NULL)
		return strcmp(row->decision, REVIEW_REJECTED) != 0 ? EVIDENCE_GREEN : EVIDENCE_RED;
	if (strcmp(row->decision, profile->pass_word) == 0)
		return EVIDENCE_GREEN;
	return strcmp(row->decision, profile->findings_word) == 0 ? EVIDENCE_RED : EVIDENCE_VOID;
}

/* Append the row and its findings to the run's chain. Takes ownership of row and findings.
 * iteration: its number among the task's. by: of a human, see evidence_review(). */
static void chain(struct txn *txn, struct slot *slot, struct review_row *row, int64_t iteration,
    struct finding_row **findings, size_t count, const struct judge_process *by)
{
	struct run_row *run = txn_edit_run(txn, slot->run);
	char hex[DIGEST_HEX];

	row->run = run->id;
	row->number = run->review_count + 1;
	row->task_id = xstrdup(slot_task_id(slot));
	row->coder_agent = xstrdup(slot->row->answer != ROW_NONE ? run_attempt(slot->run, slot->row->answer)->agent :
	    slot_plan(slot)->agents[ROLE_IMPLEMENT].name);
	row->iteration = iteration;
	row->tree = xstrdup(slot->row->tree);
	row->timestamp = engine_now(slot->run->engine);
	row->previous_hash = xstrdup(run->review_head);
	row->findings = ids_json(findings, count);
	review_hash(row, (const struct finding_row *const *)findings, count, hex);
	row->hash = xstrdup(hex);
	run->review_count = row->number;
	text_set(&run->review_head, hex);
	txn_add(txn, slot->run, ROW_REVIEW, row);
	for (size_t i = 0; i < count; i++)
		txn_add(txn, slot->run, ROW_FINDING, findings[i]);
	evidence_review(txn, slot, row, result_of(slot, row), by);
	review_log(txn, slot);
}

static void emit_decided(struct txn *txn, const struct slot *slot, const struct review_row *row,
    size_t said, const struct finding_counts *counts)
{
	json_t *body = json_pack("{s:I, s:s, s:I, s:I, s:s, s:s*, s:I, s:I, s:I, s:I, s:I, s:s*}",
	    "review", (json_int_t)row->number, "task", row->task_id, "slot",
	    (json_int_t)slot_row_work(slot->row), "round", (json_int_t)row->iteration,
	    "decision", row->decision, "feedback", row->feedback, "findings", (json_int_t)said,
	    "new", (json_int_t)counts->new,
	    "repeated", (json_int_t)counts->repeated, "resolved", (json_int_t)counts->resolved,
	    "dismissed", (json_int_t)counts->dismissed, "by", row->reviewer_agent);

	if (row->attempt != ROW_NONE)
		json_object_set_new(body, "attempt", json_integer(row->attempt));
	txn_emit(txn, "review.decided", row->run, body);
}

static void emit_voted(struct txn *txn, const struct slot *slot, const struct review_row *row, size_t said)
{
	txn_emit(txn, "review.voted", row->run, json_pack("{s:I, s:s, s:I, s:I, s:s, s:s*, s:I, s:s, s:s, s:I}",
	    "review", (json_int_t)row->number, "task", row->task_id, "slot",
	    (json_int_t)slot_row_work(slot->row), "round", (json_int_t)row->iteration,
	    "decision", row->decision, "feedback", row->feedback, "findings", (json_int_t)said,
	    "reviewer", row->reviewer, "by", row->reviewer_agent, "attempt", (json_int_t)row->attempt));
}

/* Of the slot's review attempt. */
static struct review_row *new_review(const struct slot *slot, const char *decision, const char *feedback,
    const struct verdict *v)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);
	struct review_row *row = row_new(ROW_REVIEW);

	row->reviewer_agent = xstrdup(a->agent);
	row->reviewer = xstrdup(a->reviewer);
	row->decision = xstrdup(decision);
	row->feedback = xstrdup(feedback);
	row->quality_checks = xstrdup(v->quality_checks);
	row->source = xstrdup(v->source);
	row->attempt = a->id;
	return row;
}

/* Takes row and the findings, not their array. verdict: see make_findings(). */
static struct finding_counts append(struct txn *txn, struct slot *slot, struct review_row *row,
    struct finding_row *const *own, size_t said, bool verdict)
{
	struct finding_counts counts;
	struct finding_row **findings;
	size_t count;

	findings = make_findings(slot, own, said, verdict, &count, &counts);
	if (verdict)
		disputed_answer(txn, slot, (const struct finding_row *const *)findings, said);
	chain(txn, slot, row, slot->row->round, findings, count, NULL);
	emit_decided(txn, slot, row, said, &counts);
	for (size_t i = 0; i < count; i++)
		review_emit(txn, findings[i], (enum finding_state)findings[i]->state, row->reviewer_agent, NULL);
	free(findings);
	/* the human's message has been dealt with */
	text_set(&txn_edit_slot(txn, slot)->message, NULL);
	return counts;
}

/* The slot's review attempt has given an answer, or failed to. decision, feedback: see struct
 * review_row. */
struct finding_counts review_append(struct txn *txn, struct slot *slot, const char *decision,
    const char *feedback, const struct verdict *v)
{
	size_t count;
	struct finding_row **said = said_findings(slot, v, &count);
	struct finding_counts counts = append(txn, slot, new_review(slot, decision, feedback, v), said, count,
	    v->kind != VERDICT_NONE);

	free(said);
	return counts;
}

/* It says what its reviewer has; what became of earlier findings, the panel's decision says. */
void review_vote(struct txn *txn, struct slot *voter, const char *decision, const char *feedback,
    const struct verdict *v)
{
	struct review_row *row = new_review(voter, decision, feedback, v);
	size_t nsaid, count;
	struct finding_row **said = said_findings(voter, v, &nsaid), **findings;
	struct finding_counts counts;

	findings = make_findings(voter, said, nsaid, false, &count, &counts);
	chain(txn, voter, row, voter->row->round, findings, count, NULL);
	emit_voted(txn, voter, row, nsaid);
	free(findings);
	free(said);
}

struct finding_counts review_panel(struct txn *txn, struct slot *slot, const char *decision,
    const char *feedback, const struct panel_said *said)
{
	struct review_row *row = row_new(ROW_REVIEW);

	row->reviewer_agent = xstrdup(said->by);
	row->votes = xstrdup(said->votes);
	row->decision = xstrdup(decision);
	row->feedback = xstrdup(feedback);
	row->source = xstrdup("panel");
	for (size_t i = 0; i < said->count; i++)
		said->findings[i]->review = slot->run->rows->run.review_count + 1;
	return append(txn, slot, row, said->findings, said->count, said->verdict);
}

void review_error(struct txn *txn, struct slot *slot, const char *cause)
{
	static const struct verdict none;

	struct slot_row *slot_row = txn_edit_slot(txn, slot);

	slot_row->stalled = 0;
	text_set(&slot_row->obstacle, NULL);
	review_append(txn, slot, REVIEW_ERROR, cause, &none);
}

void review_human(struct txn *txn, struct slot *slot, const char *decision, const char *by, const char *message,
    const struct judge_process *process)
{
	static const struct finding_counts none;
	struct review_row *row = row_new(ROW_REVIEW);

	row->reviewer_agent = xstrdup(by);
	row->decision = xstrdup(decision);
	row->feedback = xstrdup(message != NULL ? message : "");
	row->source = xstrdup("human");
	chain(txn, slot, row, human_round(slot), NULL, 0, process);
	emit_decided(txn, slot, row, 0, &none);
}

static bool is_marked(const struct slot *slot, const struct finding_row *finding,
    const struct verdict_finding *marks, size_t count)
{
	char id[FINDING_ID];

	for (size_t i = 0; i < count; i++) {
		make_id(slot, &marks[i], id);
		if (strcmp(id, finding->id) == 0)
			return true;
	}
	return false;
}

void review_marked(struct txn *txn, struct slot *slot, const struct verdict_finding *marks, size_t count)
{
	const struct review_row *last = review_last(slot);
	const struct finding_row **findings = NULL;
	size_t nfindings = 0;

	if (last != NULL)
		findings = run_rows_findings(slot->run->rows, last->number, &nfindings);
	for (size_t i = 0; i < nfindings; i++)
		if (finding_is_open(findings[i]) && is_marked(slot, findings[i], marks, count))
			review_emit(txn, findings[i], FINDING_RESOLVED,
			    run_attempt(slot->run, slot->row->attempt)->agent, NULL);
}

void review_log(struct txn *txn, struct slot *slot)
{
	if (slot_plan(slot)->review_log != NULL)
		txn_effect(txn, EFFECT_LOG, slot->run, slot, ROW_NONE);
}

bool slot_passed(const struct slot *slot)
{
	const struct review_row *last = review_last(slot);

	return slot_plan(slot)->review && slot->row->accepted == ACCEPTED_BY_NONE && last != NULL &&
	    strcmp(last->decision, slot_plan(slot)->profile->pass_word) == 0;
}
