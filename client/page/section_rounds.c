/* SPDX-License-Identifier: MIT */
/* The rounds of each task: attempts, checks, reviews, findings, diff. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/page/diff_view.h"
#include "client/page/pieces.h"
#include "client/page/review_view.h"
#include "client/page/round_group.h"
#include "client/page/sections.h"
#include "client/task_summary.h"
#include "proto/memory.h"

#define SLOT_WHOLE 0		/* the review of the whole run */
#define SLOT_BASE 65535		/* checks on the base */

/* What the rounds of one article are of. */
struct rounds_subject {
	const json_t *d, *task;		/* NULL: of all tasks, in slot */
	int64_t slot;
	const char *id, *title, *name;	/* id of the element; name in commands, "" or "/T-07" */
	bool alone;			/* the page is about nothing else */
};

static void rounds_attempt(struct html *h, const json_t *d, const json_t *attempt)
{
	char *name = piece_attempt(attempt), *took = piece_took(d, attempt), *tokens = cell_tokens(attempt, NULL),
	     *cost = cell_cost(attempt, "cost_usd"), *fault = cell_fault(attempt, NULL);
	const char *model = field_either(attempt, "answered_by", "model");

	html_open_class(h, "li", *fault != '\0' ? "attempt faulty" : "attempt");
	html_leaf(h, "strong", NULL, field_text(attempt, "role"));
	html_text(h, " ");
	piece_clip(h, field_text(attempt, "agent"), 100);
	if (*model != '\0')
		html_leaff(h, "span", "by", "%s", model);
	html_open_class(h, "span", "by");
	html_textf(h, "%s%s%s%s%s%s%s", took, *tokens != '\0' ? " · " : "", tokens, *tokens != '\0' ? " tokens" : "",
	    *cost != '\0' ? " · " : "", cost, field_time(attempt, "ended_at") == FIELD_NONE ? " · runs" : "");
	html_close(h);
	html_leaf(h, "code", "id", name);
	if (*fault != '\0') {
		html_leaff(h, "span", "state bad", "%s", fault);
		html_open_class(h, "span", "why");
		html_attr(h, "dir", "auto");
		piece_clip(h, field_text(attempt, "cause"), 300);
		html_close(h);
	}
	html_close(h);
	free(name);
	free(took);
	free(tokens);
	free(cost);
	free(fault);
}

/* Attempts of a round but checks, which have a list of their own, and reviews that gave a row of
 * the log. */
static void rounds_attempts(struct html *h, const json_t *d, const struct round_group *round)
{
	size_t depth = html_depth(h);

	for (size_t i = 0; i < json_array_size(round->attempts); i++) {
		const json_t *attempt = json_array_get(round->attempts, i);

		if (field_find(round->checks, "attempt", field_int(attempt, "id")) != NULL)
			continue;
		if (html_depth(h) == depth)
			html_open_class(h, "ul", "attempts");
		rounds_attempt(h, d, attempt);
	}
	html_close_to(h, depth);
}

static void rounds_check(struct html *h, const json_t *d, const json_t *attempts, const json_t *check)
{
	const json_t *attempt = field_find(attempts, "id", field_int(check, "attempt"));
	char *took = piece_took(d, attempt);

	html_open(h, "li");
	piece_state(h, field_text(check, "result"));
	html_open(h, "code");
	piece_clip(h, field_text(check, "subject"), 120);
	html_close(h);
	if (attempt != NULL)
		html_leaff(h, "span", "by", "%s", took);
	else if (field_int(check, "from_run") != FIELD_NONE)
		html_leaff(h, "span", "by", "not run again: green on this tree in %lld/%lld",
		    field_count(check, "from_run"), field_count(check, "from_attempt"));
	html_close(h);
	free(took);
}

static void rounds_checks(struct html *h, const json_t *d, const struct round_group *round)
{
	if (json_array_size(round->checks) == 0)
		return;
	html_open_class(h, "ul", "checks");
	for (size_t i = 0; i < json_array_size(round->checks) && i < PIECE_FINDINGS_MAX; i++)
		rounds_check(h, d, round->attempts, json_array_get(round->checks, i));
	html_close(h);
}

static void rounds_list(struct html *h, const struct rounds_subject *s, const struct rounds *rounds,
    const struct review_context *context)
{
	html_open_class(h, "ol", "rounds");
	for (size_t i = 0; i < rounds->count; i++) {
		char *title = rounds_title(rounds, i);

		html_open(h, "li");
		html_leaf(h, s->alone ? "h3" : "h4", NULL, title);
		rounds_attempts(h, s->d, &rounds->all[i]);
		rounds_checks(h, s->d, &rounds->all[i]);
		review_view(h, rounds->all[i].reviews, context);
		html_close(h);
		free(title);
	}
	html_close(h);
}

/* The newest diff of the task; of a run with one task, that of the run. */
static const json_t *rounds_diff(const struct rounds_subject *s)
{
	const json_t *diffs = json_object_get(s->d, "diffs"),
	             *diff = json_object_get(diffs, s->task == NULL ? "" : field_text(s->task, "id"));

	return diff == NULL && s->alone ? json_object_get(diffs, "") : diff;
}

static void rounds_whole_diff(struct html *h, const struct rounds_subject *s, const json_t *document,
    const struct diff *diff)
{
	char *more = xasprintf("rlctl diff %lld%s", field_count(json_object_get(s->d, "run"), "id"), s->name),
	     *count = piece_count((long long)diff->count, "file");

	if (diff->count > 0) {
		html_open_class(h, "details", "whole-diff");
		html_open(h, "summary");
		html_textf(h, "The diff: %s%s", count, field_true(document, "cut") ? " in its first part" : "");
		html_close(h);
		diff_view_all(h, diff, field_true(document, "cut") ? more : NULL);
		html_close(h);
	} else if (*field_text(document, "why") != '\0') {
		html_leaff(h, "p", "note", "No diff: %s.", field_text(document, "why"));
	}
	free(more);
	free(count);
}

static void rounds_body(struct html *h, const struct rounds_subject *s, const struct rounds *rounds)
{
	const json_t *document = rounds_diff(s);
	const char *text = field_text(document, "text");
	struct diff diff;
	char *more = xasprintf("rlctl review show %lld", field_count(json_object_get(s->d, "run"), "id"));
	struct review_context context = {
		.reviews = field_array(s->d, "reviews"), .diff = &diff, .tree = field_text(document, "tree"),
		.more = more,
	};

	hunks_read(&diff, text, strlen(text));
	rounds_list(h, s, rounds, &context);
	rounds_whole_diff(h, s, document, &diff);
	hunks_release(&diff);
	free(more);
}

/* Whether a reader wants to see it at once. */
static bool rounds_is_notable(const json_t *task)
{
	return field_is(task, "state", "failed") || field_is(task, "state", "claimed");
}

static void rounds_article(struct html *h, const struct rounds_subject *s)
{
	struct rounds rounds;

	rounds_read(&rounds, s->d, s->task == NULL ? NULL : field_text(s->task, "id"), s->slot);
	if (rounds.count > 0 && s->alone) {
		rounds_body(h, s, &rounds);
	} else if (rounds.count > 0) {
		html_open_class(h, "details", "task");
		html_attr(h, "id", s->id);
		html_attr(h, "open", rounds_is_notable(s->task) ? "" : NULL);
		html_open(h, "summary");
		html_open(h, "h3");
		html_attr(h, "dir", "auto");
		piece_clip(h, s->title, 160);
		html_close(h);
		piece_task_state(h, s->task);
		html_close(h);
		if (*field_text(s->task, "reason") != '\0') {
			html_open_class(h, "p", "why");
			html_attr(h, "dir", "auto");
			piece_clip(h, field_text(s->task, "reason"), 600);
			html_close(h);
		}
		rounds_body(h, s, &rounds);
		html_close(h);
	}
	rounds_release(&rounds);
}

static void rounds_task(struct html *h, const json_t *d, const json_t *task, size_t index, bool alone)
{
	char *id = xasprintf("task-%zu", index + 1),
	     *title = xasprintf("%s  %s", field_text(task, "id"), field_text(task, "title")),
	     *name = alone ? xstrdup("") : xasprintf("/%s", field_text(task, "id"));
	struct rounds_subject subject = { d, task, 0, id, title, name, alone };

	rounds_article(h, &subject);
	free(id);
	free(title);
	free(name);
}

void section_rounds(struct html *h, const json_t *d)
{
	const json_t *run = json_object_get(d, "run"), *tasks = field_array(run, "tasks");
	size_t all = json_array_size(tasks), shown = all < PIECE_ROUNDS_MAX ? all : PIECE_ROUNDS_MAX;
	struct rounds_subject whole = { d, NULL, SLOT_WHOLE, "whole", "The whole run", "", false },
	                      base = { d, NULL, SLOT_BASE, "base", "Checks on the base", "", false };
	char *more = xasprintf("rlctl show %lld", field_count(run, "id"));
	bool alone = all == 1 && !tasks_are_many(run);

	if (json_array_size(field_array(d, "attempts")) + json_array_size(field_array(d, "reviews")) > 0) {
		piece_section(h, "rounds", alone ? "Rounds" : "Rounds of each task");
		for (size_t i = 0; i < shown; i++)
			rounds_task(h, d, json_array_get(tasks, i), i, alone);
		piece_left_out(h, shown, all, "tasks", more);
		rounds_article(h, &whole);
		rounds_article(h, &base);
		html_close(h);
	}
	free(more);
}
