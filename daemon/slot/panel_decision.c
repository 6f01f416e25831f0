/* SPDX-License-Identifier: MIT */
#include "slot/panel_decision.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/quorum.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/state.h"
#include "evidence/evidence.h"
#include "job/review_file.h"
#include "model/activity.h"
#include "model/job.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slot_key.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "slot/finding_report.h"
#include "slot/machine.h"
#include "slot/panel.h"
#include "slot/panel_votes.h"
#include "slot/review_rows.h"
#include "slot/round.h"
#include "slot/ruling.h"
#include "slot/wait.h"
#include "txn/emit.h"
#include "txn/txn.h"

struct panel {
	const struct plan *plan;
	size_t count;
	enum vote votes[PANEL_MAX];
	const struct review_row *rows[PANEL_MAX];	/* NULL: it has not voted */
	size_t passes;
};

static const char *name_of(const struct panel *p, size_t i)
{
	return p->plan->reviewers[i].name;
}

static struct panel panel_of(const struct slot *slot)
{
	struct panel p = { .plan = slot_plan(slot), .count = slot_plan(slot)->nreviewers };

	for (size_t i = 0; i < p.count; i++) {
		p.votes[i] = panel_vote_of(slot, name_of(&p, i));
		p.rows[i] = panel_vote_row(slot, name_of(&p, i));
		p.passes += p.votes[i] == VOTE_PASS;
	}
	return p;
}

/* Its first one; count: none. */
static size_t first_of(const struct panel *p, enum vote vote)
{
	size_t i = 0;

	while (i < p->count && p->votes[i] != vote)
		i++;
	return i;
}

/* "a, b": the reviewers with that vote, VOTES: all. */
static char *names_of(const struct panel *p, enum vote vote)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < p->count; i++)
		if (vote == VOTES || p->votes[i] == vote)
			buf_addf(&b, "%s%s", b.size > 0 ? ", " : "", name_of(p, i));
	return b.data;
}

static enum vote ruling_of(const struct panel *p)
{
	return panel_decide(p->votes, p->count, panel_quorum(p->plan->quorum, p->count), p->plan);
}

/* ---- what it says ---- */

static char *numbers_of(const struct panel *p)
{
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < p->count; i++)
		if (p->rows[i] != NULL)
			json_array_append_new(list, json_integer(p->rows[i]->number));
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static char *with_name(const char *list, const char *name)
{
	json_t *names = list != NULL ? json_loads(list, 0, NULL) : json_array();
	char *text;

	json_array_append_new(names, json_string(name));
	text = json_dumps(names, JSON_COMPACT);
	json_decref(names);
	return text;
}

/* Where the finding with that id is; count: nowhere. */
static size_t place_of(struct finding_row *const *rows, size_t count, const char *id)
{
	size_t at = 0;

	while (at < count && strcmp(rows[at]->id, id) != 0)
		at++;
	return at;
}

static struct finding_row *outvoted(const struct finding_row *said)
{
	struct finding_row *row = row_copy(ROW_FINDING, said);

	text_set(&row->reviewers, NULL);
	row->state = FINDING_OUTVOTED;
	return row;
}

static bool is_of(const struct finding_row *finding, const char *name)
{
	json_t *names = json_loads(finding->reviewers, 0, NULL), *one;
	bool is = false;
	size_t i;

	json_array_foreach(names, i, one)
		is |= strcmp(json_string_value(one), name) == 0;
	json_decref(names);
	return is;
}

/* Those of all votes, each once, with its reviewers. passed: those of votes against it do not
 * count. */
static struct finding_row **merged(const struct slot *slot, const struct panel *p, bool passed, size_t *count)
{
	struct finding_row **rows = NULL;

	*count = 0;
	for (size_t i = 0; i < p->count; i++) {
		size_t n = 0;
		const struct finding_row **said = vote_is_verdict(p->votes[i]) ?
		    run_rows_findings(slot->run->rows, p->rows[i]->number, &n) : NULL;

		for (size_t k = 0; k < n; k++) {
			size_t at = place_of(rows, *count, said[k]->id);
			char *names;

			if (at == *count) {
				rows = xreallocarray(rows, *count + 1, sizeof(*rows));
				rows[(*count)++] = outvoted(said[k]);
			} else if (is_of(rows[at], name_of(p, i))) {
				continue;
			}
			names = with_name(rows[at]->reviewers, name_of(p, i));
			free(rows[at]->reviewers);
			rows[at]->reviewers = names;
			if (!passed || p->votes[i] == VOTE_PASS)
				rows[at]->state = FINDING_NEW;
		}
	}
	return rows;
}

/* What a reviewer says that none before it has said: all of it, if that is none of it. */
static char *news_of(const struct slot *slot, const struct panel *p, size_t at)
{
	size_t n, known = 0;
	const struct finding_row **said = run_rows_findings(slot->run->rows, p->rows[at]->number, &n);
	struct buf b = { 0 };

	for (size_t k = 0; k < n; k++) {
		bool told = false;

		for (size_t i = 0; i < at && !told; i++) {
			size_t count = 0;
			const struct finding_row **before = p->votes[i] == VOTE_FINDINGS ?
			    run_rows_findings(slot->run->rows, p->rows[i]->number, &count) : NULL;

			told = before != NULL && findings_have(before, count, said[k]->id);
		}
		known += told;
		if (!told) {
			char *issue = review_issue(said[k]);

			buf_addf(&b, "%s- %s", b.size > 0 ? "\n" : "", issue);
			free(issue);
		}
	}
	if (known > 0)
		return b.data;
	buf_release(&b);
	for (size_t i = 0; i < at && n == 0; i++)
		if (p->votes[i] == VOTE_FINDINGS && text_equal(p->rows[i]->feedback, p->rows[at]->feedback))
			return NULL;
	return xstrdup(p->rows[at]->feedback);
}

/* For the fixer: of one reviewer as it is, of several with their names. */
static char *follow_up(const struct slot *slot, const struct panel *p)
{
	size_t first = first_of(p, VOTE_FINDINGS), count = 0;
	struct buf b = { 0 };

	for (size_t i = 0; i < p->count; i++)
		count += p->votes[i] == VOTE_FINDINGS;
	if (count == 1)
		return xstrdup(p->rows[first]->feedback);
	for (size_t i = first; i < p->count; i++) {
		char *text = p->votes[i] == VOTE_FINDINGS ? news_of(slot, p, i) : NULL;

		if (text != NULL)
			buf_addf(&b, "%sReviewer %s:\n%s", b.size > 0 ? "\n\n" : "", name_of(p, i), text);
		free(text);
	}
	return b.data;
}

/* "passed 2 of 3; codex dissents" */
static char *tally(const struct panel *p)
{
	char *names = names_of(p, VOTE_FINDINGS);
	size_t against = p->count - p->passes;
	char *text = against == 0 ? xasprintf("passed %zu of %zu", p->passes, p->count) :
	    xasprintf("passed %zu of %zu; %s %s", p->passes, p->count, names, against == 1 ? "dissents" : "dissent");

	free(names);
	return text;
}

/* "codex: why", of all with that vote. */
static char *reasons(const struct panel *p, enum vote vote)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < p->count; i++)
		if (p->votes[i] == vote)
			buf_addf(&b, "%s%s: %s", b.size > 0 ? "; " : "", name_of(p, i), p->rows[i]->feedback);
	return b.data;
}

/* ---- what follows ---- */

static struct finding_counts append(struct txn *txn, struct slot *slot, const char *decision, const char *feedback,
    const void *arg)
{
	const struct panel *p = arg;
	bool passed = strcmp(decision, p->plan->profile->pass_word) == 0;
	bool verdict = passed || strcmp(decision, p->plan->profile->findings_word) == 0;
	char *by = names_of(p, VOTES), *votes = numbers_of(p);
	struct panel_said said = { .by = by, .votes = votes, .verdict = verdict };
	struct finding_counts counts;

	if (verdict)
		said.findings = merged(slot, p, passed, &said.count);
	counts = review_panel(txn, slot, decision, feedback, &said);
	free(said.findings);
	free(votes);
	free(by);
	return counts;
}

/* Votes of the run that this one continues count here as well. */
static void record_reused(struct txn *txn, struct slot *slot, const struct panel *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct evidence_row *row;

		if (p->rows[i] == NULL || p->rows[i]->from_run == ROW_NONE)
			continue;
		row = evidence_new(slot, EVIDENCE_VOTE, p->rows[i]->reviewer_agent,
		    p->votes[i] == VOTE_PASS ? EVIDENCE_GREEN : EVIDENCE_RED);
		row->review = p->rows[i]->number;
		row->from_run = p->rows[i]->from_run;
		evidence_append(txn, slot->run, row);
	}
}

static void fail(struct txn *txn, struct slot *slot, const struct panel *p)
{
	size_t at = first_of(p, VOTE_ERROR);
	const struct attempt_row *a = run_attempt(slot->run, p->rows[at]->attempt);
	struct slot_row *row = txn_edit_slot(txn, slot);
	enum end_kind kind = a->end_kind != END_NONE ? (enum end_kind)a->end_kind : END_ERROR;
	char *why = reasons(p, VOTE_ERROR);

	row->stalled = 0;
	text_set(&row->obstacle, NULL);
	append(txn, slot, REVIEW_ERROR, why, p);
	round_judged(txn, slot);
	round_over(txn, slot, ROUND_REVIEWER_ERROR, CAUSE(kind, why));
	free(why);
}

/* There is no vote: the same becomes of the slot as became of the voter. */
static void follow_voter(struct txn *txn, struct slot *slot, const struct slot_row *voter)
{
	enum slot_stage to = (enum slot_stage)voter->stage;
	const struct attempt_row *a = run_rows_attempt(slot->run->rows, voter->attempt);
	struct cause cause = slot_cause(voter);
	/* the limit is the run's */
	char *text = cause.kind == END_LIMIT ? xstrdup(cause.text) : xasprintf("%s: %s", voter->reviewer, cause.text);

	slot_move(txn, slot, SLOT_S_PANEL, to, &(struct move_why){ .cause = CAUSE(cause.kind, text),
	    .hold = a != NULL && a->role == ROLE_SETUP && a->state != ATTEMPT_S_LOST ? HOLD_SETUP : HOLD_LOST });
	free(text);
}

static void warn_of_dissent(struct txn *txn, const struct slot *slot, const struct panel *p, const char *text)
{
	if (p->passes < p->count)
		slot_warn(txn, slot, "the review %s", text);
}

static void rule(struct txn *txn, struct slot *slot, const struct panel *p, enum vote decision)
{
	char *text = decision == VOTE_VIOLATION ? reasons(p, decision) : decision == VOTE_PASS ? tally(p) :
	    follow_up(slot, p);
	struct ruling ruling = {
		.verdict = decision != VOTE_VIOLATION,
		.pass = decision == VOTE_PASS,
		.violation = decision == VOTE_VIOLATION ? text : NULL,
		.feedback = text,
		.append = append,
		.said = p,
	};

	for (size_t i = 0; i < p->count && ruling.cut == NULL; i++)
		if (p->votes[i] == decision && p->rows[i]->attempt != ROW_NONE &&
		    run_attempt(slot->run, p->rows[i]->attempt)->left_out != NULL)
			ruling.cut = run_attempt(slot->run, p->rows[i]->attempt);
	record_reused(txn, slot, p);
	if (decision == VOTE_PASS)
		warn_of_dissent(txn, slot, p, text);
	ruling_decide(txn, slot, &ruling);
	free(text);
}

/* The attempt that a hold would be about. */
static void name_attempt(struct txn *txn, struct slot *slot, const struct panel *p, enum vote decision)
{
	size_t at = first_of(p, decision);
	const struct slot_row *voter = panel_voter(slot, name_of(p, at));
	int64_t attempt = p->rows[at] != NULL ? p->rows[at]->attempt : voter != NULL ? voter->attempt : ROW_NONE;

	if (attempt != ROW_NONE)
		txn_edit_slot(txn, slot)->attempt = attempt;
}

static void decide(struct txn *txn, struct slot *slot)
{
	struct panel p = panel_of(slot);
	enum vote decision = ruling_of(&p);

	activity_end(&slot->activity);
	if (decision == VOTE_AWAITED) {
		panel_begin(txn, slot);
		return;
	}
	if (first_of(&p, decision) < p.count)
		name_attempt(txn, slot, &p, decision);
	if (decision == VOTE_HELD || decision == VOTE_FAILED)
		follow_voter(txn, slot, panel_voter(slot, name_of(&p, first_of(&p, decision))));
	else if (decision == VOTE_ERROR)
		fail(txn, slot, &p);
	else
		rule(txn, slot, &p, decision);
}

static void conclude(struct slot *slot)
{
	struct txn *txn = txn_new(slot->run->engine);

	slot_wait_over(txn, slot);
	if (slot_ending(slot))
		slot_ended(txn, slot);
	else
		decide(txn, slot);
	txn_commit(txn);
}

/* ---- the file for the corrector ---- */

static struct job *file_new(const struct slot *slot)
{
	struct review_file_job *w = xcalloc(1, sizeof(*w));
	struct panel p = panel_of(slot);
	char *dir = slot_workdir(slot);

	w->key = slot_key(slot);
	w->workspace = xstrdup(slot->run->rows->run.workspace);
	w->path = xasprintf("%s/%s", dir, p.plan->review_file);
	if (p.plan->profile->carrier == CARRIER_FILE && ruling_of(&p) == VOTE_FINDINGS)
		w->text = follow_up(slot, &p);
	free(dir);
	return &w->job;
}

static void file_cb(void *arg, struct job *job)
{
	struct engine *engine = arg;
	struct review_file_job *w = (struct review_file_job *)job;
	struct slot *slot = slot_at_job(engine, w->key);

	if (slot != NULL && job->fault != 0 && !slot_ending(slot)) {
		struct txn *txn = txn_new(engine);

		slot_waits(txn, slot, WAIT_HOST, job->fault, w->error);
		txn_commit(txn);
		engine_job_later(engine, HOST_LOOK_MS, file_new(slot), &review_file_type, file_cb, engine);
	} else if (slot != NULL) {
		conclude(slot);
	}
	job_free(job);
}

void panel_look(struct slot *slot)
{
	if (!slot_ending(slot) && panel_is_at_work(slot)) {
		activity_wait(&slot->activity, ACTIVITY_PANEL);
		return;
	}
	if (slot_ending(slot) || slot_plan(slot)->review_file == NULL) {
		conclude(slot);
		return;
	}
	activity_start_job(&slot->activity);
	engine_job(slot->run->engine, file_new(slot), &review_file_type, file_cb, slot->run->engine);
}
