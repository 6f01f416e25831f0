/* SPDX-License-Identifier: MIT */
#include "client/page/review_view.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/page/diff_view.h"
#include "client/page/pieces.h"
#include "proto/memory.h"

static bool view_is_closed(const json_t *finding)
{
	return field_is(finding, "state", "resolved");
}

/* The next row of a finding in the reviews of the same task, votes apart; NULL: there is none. *in:
 * the review that has it. */
static const json_t *view_next(const struct review_context *context, const json_t *review, const json_t *finding,
    const json_t **in)
{
	for (size_t i = 0; i < json_array_size(context->reviews); i++) {
		const json_t *later = json_array_get(context->reviews, i), *findings = field_array(later, "findings");

		if (field_count(later, "number") <= field_count(review, "number") ||
		    *field_text(later, "reviewer") != '\0' ||
		    !field_is(later, "task_id", field_text(review, "task_id")))
			continue;
		for (size_t n = 0; n < json_array_size(findings); n++) {
			*in = later;
			if (field_is(json_array_get(findings, n), "id", field_text(finding, "id")))
				return json_array_get(findings, n);
		}
	}
	return NULL;
}

static void view_said(struct html *h, const char *what, const json_t *said, const char *more)
{
	const char *answer = field_text(said, "answer");

	if (!json_is_object(said))
		return;
	html_open_class(h, "div", "said");
	html_leaff(h, "p", "by", "%s by %s%s%s", what, field_text(said, "by"), *answer != '\0' ? ", then " : "",
	    answer);
	piece_prose(h, field_text(said, "reason"), more);
	html_close(h);
}

static void view_finding_head(struct html *h, const json_t *finding, const json_t *next, const json_t *in)
{
	char *place = cell_place(finding, NULL), *reviewers = field_joined(field_array(finding, "reviewers"));

	html_open_class(h, "p", "finding-head");
	piece_state(h, json_is_object(json_object_get(finding, "dismissed")) ? "dismissed" :
	    field_text(finding, "state"));
	if (next != NULL) {
		html_text(h, "→");
		piece_state(h, field_text(next, "state"));
		html_leaff(h, "span", "by", "in review %lld", field_count(in, "iteration"));
	}
	if (*field_text(finding, "severity") != '\0')
		html_leaf(h, "span", "severity", field_text(finding, "severity"));
	if (*place != '\0')
		html_leaf(h, "code", "place", place);
	if (*reviewers != '\0')
		html_leaff(h, "span", "by", "by %s", reviewers);
	html_leaf(h, "code", "id", field_text(finding, "id"));
	html_close(h);
	free(place);
	free(reviewers);
}

/* The lines that a finding is about. gone: a later review no longer has it. */
static void view_hunk(struct html *h, const json_t *review, const json_t *finding,
    const struct review_context *context, bool gone)
{
	const char *file = field_text(finding, "file");
	long long line = field_count(finding, "line");
	bool same = field_is(review, "tree", context->tree);
	const struct diff_hunk *hunk = *file == '\0' ? NULL : hunks_find(context->diff, file, line);

	if (hunk == NULL)
		return;
	html_open_class(h, gone ? "details" : "div", "beside");
	if (gone)
		html_leaf(h, "summary", NULL, "These lines in the last diff");
	else if (!same)
		html_leaf(h, "p", "note", "As it is in the last diff; this review saw an earlier one.");
	diff_view_hunk(h, file, hunk, line, same);
	html_close(h);
}

static void view_finding(struct html *h, const json_t *review, const json_t *finding,
    const struct review_context *context)
{
	const json_t *in = NULL, *next = view_next(context, review, finding, &in);

	html_open_class(h, "li", "finding");
	html_open_class(h, "div", "finding-text");
	view_finding_head(h, finding, next, in);
	piece_prose(h, field_text(finding, "text"), context->more);
	view_said(h, "Dismissed", json_object_get(finding, "dismissed"), context->more);
	view_said(h, "Disputed", json_object_get(finding, "disputed"), context->more);
	html_close(h);
	/* the last review that still has it shows the lines */
	if (next == NULL || view_is_closed(next))
		view_hunk(h, review, finding, context, next != NULL);
	html_close(h);
}

/* Those that are gone, in a line each. */
static void view_resolved(struct html *h, const json_t *findings)
{
	size_t count = 0;
	char *title;

	for (size_t i = 0; i < json_array_size(findings); i++)
		count += view_is_closed(json_array_get(findings, i));
	if (count == 0)
		return;
	title = piece_count((long long)count, "finding");
	html_open_class(h, "div", "resolved");
	html_leaff(h, "p", "by", "%s resolved", title);
	free(title);
	html_open(h, "ul");
	for (size_t i = 0; i < json_array_size(findings) && i < PIECE_FINDINGS_MAX; i++) {
		const json_t *finding = json_array_get(findings, i);
		char *place = cell_place(finding, NULL);

		if (view_is_closed(finding)) {
			html_open(h, "li");
			html_attr(h, "dir", "auto");
			if (*place != '\0') {
				html_leaf(h, "code", NULL, place);
				html_text(h, " ");
			}
			piece_clip(h, field_text(finding, "text"), 160);
			html_close(h);
		}
		free(place);
	}
	html_close(h);
	html_close(h);
}

static void view_findings(struct html *h, const json_t *review, const struct review_context *context)
{
	const json_t *findings = field_array(review, "findings");
	size_t all = json_array_size(findings), shown = all < PIECE_FINDINGS_MAX ? all : PIECE_FINDINGS_MAX, open = 0;

	for (size_t i = 0; i < shown; i++)
		open += !view_is_closed(json_array_get(findings, i));
	if (open > 0) {
		html_open_class(h, "ul", "findings");
		for (size_t i = 0; i < shown; i++)
			if (!view_is_closed(json_array_get(findings, i)))
				view_finding(h, review, json_array_get(findings, i), context);
		html_close(h);
	}
	view_resolved(h, findings);
	piece_left_out(h, shown, all, "findings", context->more);
}

/* Whether the findings say all that the feedback says. */
static bool view_says_more(const json_t *review)
{
	const char *feedback = field_text(review, "feedback");
	const json_t *findings = field_array(review, "findings"), *only = json_array_get(findings, 0);
	const char *text = field_text(only, "text");
	size_t length = strlen(text);

	if (json_array_size(findings) != 1 || *field_text(only, "file") != '\0')
		return true;
	return strncmp(feedback, text, length) != 0 || feedback[length + strspn(feedback + length, " \t\r\n")] != '\0';
}

/* "acceptance_criteria_met: true", as reviewers of profile decision answer. */
static void view_quality(struct html *h, const json_t *checks)
{
	if (json_object_size(checks) == 0)
		return;
	html_open_class(h, "ul", "checks");
	for (void *i = json_object_iter((json_t *)checks); i != NULL; i = json_object_iter_next((json_t *)checks, i)) {
		char *value = json_dumps(json_object_iter_value(i), JSON_COMPACT | JSON_ENCODE_ANY);

		html_open_class(h, "li", strcmp(value, "false") == 0 ? "bad" : NULL);
		html_textf(h, "%s: ", json_object_iter_key(i));
		piece_clip(h, value, 80);
		html_close(h);
		free(value);
	}
	html_close(h);
}

/* The decision of a panel for a vote; NULL: there is none yet. */
static const json_t *view_decision_of(const json_t *reviews, const json_t *vote)
{
	for (size_t i = 0; i < json_array_size(reviews); i++) {
		const json_t *review = json_array_get(reviews, i), *votes = field_array(review, "votes");

		for (size_t n = 0; n < json_array_size(votes); n++)
			if (json_integer_value(json_array_get(votes, n)) == field_count(vote, "number"))
				return review;
	}
	return NULL;
}

static void view_vote(struct html *h, const json_t *reviews, const json_t *vote, const char *more)
{
	const json_t *decision = view_decision_of(reviews, vote);
	const char *agent = field_text(vote, "reviewer_agent"), *reviewer = field_text(vote, "reviewer");
	bool dissents = decision != NULL && strcmp(piece_tone(field_text(vote, "decision")),
	    piece_tone(field_text(decision, "decision"))) != 0;

	html_open_class(h, "li", dissents ? "vote dissents" : "vote");
	html_open_class(h, "p", "vote-head");
	html_leaf(h, "strong", NULL, reviewer);
	if (strcmp(agent, reviewer) != 0)
		html_leaff(h, "span", "by", "by its fallback %s", agent);
	piece_state(h, field_text(vote, "decision"));
	if (dissents)
		html_leaf(h, "span", "dissent", "dissents");
	html_close(h);
	if (*field_text(vote, "feedback") != '\0')
		piece_folded(h, "What it said", field_text(vote, "feedback"), more);
	html_close(h);
}

/* The votes of a round, before their decision. */
static void view_votes(struct html *h, const json_t *reviews, const char *more)
{
	bool any = false;

	for (size_t i = 0; i < json_array_size(reviews); i++) {
		const json_t *vote = json_array_get(reviews, i);

		if (*field_text(vote, "reviewer") == '\0')
			continue;
		if (!any)
			html_open_class(h, "ul", "votes");
		any = true;
		view_vote(h, reviews, vote, more);
	}
	if (any)
		html_close(h);
}

static void view_decision(struct html *h, const json_t *review, const struct review_context *context)
{
	const char *feedback = field_text(review, "feedback");
	bool findings = json_array_size(field_array(review, "findings")) > 0;

	html_open_class(h, "div", "review");
	html_attrf(h, "id", "review-%lld", field_count(review, "number"));
	html_open_class(h, "p", "review-head");
	html_leaff(h, "strong", NULL, "Review %lld", field_count(review, "iteration"));
	piece_state(h, field_text(review, "decision"));
	html_leaff(h, "span", "by", "by %s", field_text(review, "reviewer_agent"));
	piece_time(h, review, "timestamp");
	html_close(h);
	if (*feedback != '\0' && !findings)
		piece_prose(h, feedback, context->more);
	view_quality(h, json_object_get(review, "quality_checks"));
	view_findings(h, review, context);
	if (*feedback != '\0' && findings && view_says_more(review))
		piece_folded(h, "The whole feedback", feedback, context->more);
	html_close(h);
}

void review_view(struct html *h, const json_t *reviews, const struct review_context *context)
{
	view_votes(h, reviews, context->more);
	for (size_t i = 0; i < json_array_size(reviews); i++)
		if (*field_text(json_array_get(reviews, i), "reviewer") == '\0')
			view_decision(h, json_array_get(reviews, i), context);
}
