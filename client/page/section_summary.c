/* SPDX-License-Identifier: MIT */
/* The head of the page: what was asked, what came of it, figures and settings. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/budget_text.h"
#include "client/cell.h"
#include "client/field.h"
#include "client/page/pieces.h"
#include "client/page/sections.h"
#include "client/print.h"
#include "client/settings_text.h"
#include "client/task_summary.h"
#include "proto/escape.h"
#include "proto/memory.h"

#define WHY_COLUMNS 600	/* of why the run is in its state */

/* ---- what came of it ---- */

/* "passed by review 2 after 1 fix round"; "" when no review has passed it. */
static char *summary_passed(const json_t *d)
{
	const json_t *reviews = field_array(d, "reviews"),
	             *last = json_array_get(reviews, json_array_size(reviews) - 1);
	long long rounds = field_count(last, "iteration");

	if (json_array_size(reviews) == 0 || strcmp(piece_tone(field_text(last, "decision")), "good") != 0)
		return xstrdup("");
	return xasprintf("%s it in review %lld.", field_is(last, "source", "human") ? "A human accepted" :
	    field_is(last, "source", "panel") ? "A panel passed" : "The reviewer passed", rounds);
}

/* Why the run is in its state, in one sentence; "": nothing to say. */
static char *summary_why(const json_t *d)
{
	const json_t *run = json_object_get(d, "run"), *overview = json_object_get(run, "overview");
	const char *skip = field_text(json_object_get(run, "review"), "skip_reason");
	char *reason = cell_reason(run, NULL);

	if (*reason != '\0' && *field_text(overview, "why") == '\0')
		return reason;
	free(reason);
	if (*field_text(overview, "why") != '\0')
		return cell_text(overview, "why");
	if (*field_text(run, "cause") != '\0' || tasks_are_many(run))
		return cell_text(run, "cause");
	return *skip != '\0' && field_is(run, "state", "succeeded") ? xasprintf("It was not reviewed: %s.", skip) :
	    summary_passed(d);
}

/* Number of findings whose newest row has one of two states. */
static size_t summary_findings(const json_t *d, const char *state, const char *other)
{
	const json_t *reviews = field_array(d, "reviews");
	json_t *last = json_object();
	const char *key;
	json_t *value;
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(reviews); i++) {
		const json_t *review = json_array_get(reviews, i), *findings = field_array(review, "findings");

		for (size_t n = 0; *field_text(review, "reviewer") == '\0' && n < json_array_size(findings); n++) {
			const json_t *finding = json_array_get(findings, n);
			char *name = xasprintf("%s %s", field_text(finding, "id"), field_text(review, "task_id"));

			json_object_set_new(last, name, json_string(
			    json_is_object(json_object_get(finding, "dismissed")) ? "dismissed" :
			    field_text(finding, "state")));
			free(name);
		}
	}
	json_object_foreach(last, key, value) {
		const char *found = json_string_value(value);

		count += state == NULL || strcmp(found, state) == 0 || (other != NULL && strcmp(found, other) == 0);
	}
	json_decref(last);
	return count;
}

/* "4 findings: 2 resolved, 1 outvoted, 1 open" */
static char *summary_findings_text(const json_t *d)
{
	static const struct {
		const char *state, *other, *word;
	} rows[] = { { "resolved", NULL, "resolved" }, { "dismissed", NULL, "dismissed" },
		{ "outvoted", NULL, "outvoted" }, { "new", "repeated", "open" } };
	size_t all = summary_findings(d, NULL, NULL);
	struct buf text = { 0 };
	char *count;

	if (all == 0)
		return xstrdup("");
	count = piece_count((long long)all, "finding");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t found = summary_findings(d, rows[i].state, rows[i].other);

		if (found > 0)
			buf_addf(&text, "%s%zu %s", text.size > 0 ? ", " : "", found, rows[i].word);
	}
	if (text.size > 0) {
		char *states = buf_take(&text, NULL), *both = xasprintf("%s: %s", count, states);

		free(count);
		free(states);
		return both;
	}
	return count;
}

/* ---- figures and facts ---- */

/* Decisions of this run's reviewers: neither votes, nor a human's, nor those of an earlier run. */
static char *summary_reviews(const json_t *d)
{
	const json_t *reviews = field_array(d, "reviews");
	long long count = 0;

	for (size_t i = 0; i < json_array_size(reviews); i++) {
		const json_t *review = json_array_get(reviews, i);

		count += *field_text(review, "reviewer") == '\0' && !field_is(review, "source", "human") &&
		    field_int(review, "from_run") == FIELD_NONE;
	}
	return count == 0 ? xstrdup("") : xasprintf("%lld", count);
}

/* Rounds in which fixers worked, of all tasks together. */
static char *summary_fixes(const json_t *d)
{
	const json_t *attempts = field_array(d, "attempts");
	json_t *rounds = json_object();
	char *text;

	for (size_t i = 0; i < json_array_size(attempts); i++) {
		const json_t *attempt = json_array_get(attempts, i);
		char *name = xasprintf("%lld %lld %lld", field_count(attempt, "iteration"),
		    field_count(attempt, "slot"), field_count(attempt, "round"));

		if (field_is(attempt, "role", "fix"))
			json_object_set_new(rounds, name, json_true());
		free(name);
	}
	text = json_object_size(rounds) == 0 ? xstrdup("") : xasprintf("%zu", json_object_size(rounds));
	json_decref(rounds);
	return text;
}

/* Takes value; "": left out. */
static void summary_figure(struct html *h, const char *name, char *value)
{
	if (*value != '\0') {
		html_open(h, "div");
		html_leaf(h, "dt", NULL, name);
		html_leaf(h, "dd", NULL, value);
		html_close(h);
	}
	free(value);
}

static char *summary_checks(const json_t *run)
{
	const json_t *checks = json_object_get(run, "checks");
	long long green = field_count(checks, "green"), red = field_count(checks, "red");

	if (green + red == 0)
		return xstrdup("");
	return red == 0 ? xasprintf("%lld green", green) : xasprintf("%lld green, %lld red", green, red);
}

/* one: "attempt" of "1 attempt" and of "2 attempts". */
static void summary_number(struct html *h, const char *one, char *value)
{
	char *name = xasprintf("%s%s", one, strcmp(value, "1") == 0 ? "" : "s");

	summary_figure(h, name, value);
	free(name);
}

static void summary_figures(struct html *h, const json_t *d)
{
	const json_t *run = json_object_get(d, "run"), *totals = json_object_get(run, "totals"),
	             *attempts = field_array(d, "attempts");

	html_open_class(h, "dl", "figures");
	summary_figure(h, "took", cell_duration(totals, "wall_ms"));
	summary_figure(h, "cost", cell_cost(totals, "cost_usd"));
	summary_figure(h, "tokens", cell_tokens(totals, NULL));
	summary_number(h, "attempt", xasprintf("%zu", json_array_size(attempts)));
	summary_number(h, "review", summary_reviews(d));
	summary_number(h, "fix round", summary_fixes(d));
	summary_figure(h, "checks", summary_checks(run));
	html_close(h);
}

static void summary_when(struct html *h, const json_t *run, const char *name, const char *key)
{
	if (field_time(run, key) == FIELD_NONE)
		return;
	html_open(h, "div");
	html_leaf(h, "dt", NULL, name);
	html_open(h, "dd");
	piece_time(h, run, key);
	html_close(h);
	html_close(h);
}

static void summary_facts(struct html *h, const json_t *run)
{
	const json_t *review = json_object_get(run, "review");

	piece_facts(h);
	piece_fact(h, "directory", cell_text(run, "workdir"));
	piece_fact(h, "tasks from", field_is(run, "source", "prompt") ? xstrdup("") :
	    xasprintf("%s %s", field_text(run, "source"), field_text(run, "source_path")));
	piece_fact(h, "agents", settings_agents(json_object_get(run, "agents"), review));
	piece_fact(h, "review", settings_review(review));
	piece_fact(h, "result", cell_text(run, "result_ref"));
	piece_fact(h, "commit", cell_text(run, "result_commit"));
	piece_fact(h, "base", cell_text(run, "base_commit"));
	piece_fact(h, "budget", budget_line(json_object_get(run, "budget")));
	piece_fact(h, "retry of", cell_number(run, "retry_of"));
	piece_fact(h, "submitted by", xasprintf("uid %lld", field_count(run, "owner")));
	summary_when(h, run, "submitted", "created_at");
	summary_when(h, run, "started", "started_at");
	summary_when(h, run, "ended", "ended_at");
	html_close(h);
}

static void summary_folded(struct html *h, const char *title, const json_t *text, const char *more)
{
	if (*field_text(text, "text") != '\0')
		piece_folded(h, title, field_text(text, "text"), more);
}

/* What was asked: the task, or where the tasks are from. */
static void summary_heading(struct html *h, const json_t *run)
{
	html_open(h, "header");
	html_leaff(h, "p", "eyebrow", "Run %lld", field_count(run, "id"));
	html_open(h, "h1");
	html_attr(h, "dir", "auto");
	piece_title(h, run, 300);
	html_close(h);
}

/* "Held: 9 of 12 tasks passed, ...": the state, the counts, why, and what became of findings. */
static void summary_verdict(struct html *h, const json_t *d)
{
	const json_t *run = json_object_get(d, "run");
	const char *state = field_text(run, "state");
	char *why = summary_why(d), *found = summary_findings_text(d), *tasks = piece_tasks(run);
	bool many = tasks_are_many(run);
	/* "cancelled by uid 1000" says the state once more */
	size_t same = !many && *state != '\0' && strncmp(why, state, strlen(state)) == 0 ? strlen(state) : 0;

	if (why[same] != ' ')
		same = 0;
	html_open(h, "p");
	html_attrf(h, "class", "verdict %s", piece_tone(state));
	html_leaf(h, "strong", NULL, state);
	if (many)
		html_textf(h, ". %s", tasks);
	html_text(h, same > 0 ? "" : ". ");
	html_open(h, "span");
	html_attr(h, "dir", "auto");
	piece_clip(h, why + same, WHY_COLUMNS);
	html_close(h);
	if (*why != '\0' && text_width(why + same) <= WHY_COLUMNS && strchr(".!?", why[strlen(why) - 1]) == NULL)
		html_text(h, ".");
	if (*found != '\0')
		html_leaff(h, "span", "found", " %s.", found);
	html_close(h);
	free(why);
	free(found);
	free(tasks);
}

void section_summary(struct html *h, const json_t *d, const struct page_frame *frame)
{
	const json_t *run = json_object_get(d, "run");
	char *more = xasprintf("rlctl logs %lld/1", field_count(run, "id"));

	summary_heading(h, run);
	summary_verdict(h, d);
	html_close(h);
	section_next(h, run, frame);
	summary_figures(h, d);
	summary_folded(h, "The whole task, as the agent got it", json_object_get(d, "asked"), more);
	summary_folded(h, "The answer that was accepted", json_object_get(d, "answer"), more);
	html_open(h, "details");
	html_leaf(h, "summary", NULL, "Directory, agents, review, times");
	summary_facts(h, run);
	html_close(h);
	free(more);
}
