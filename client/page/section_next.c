/* SPDX-License-Identifier: MIT */
/* What to do now: decide what waits, take the result, continue. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "client/hold_choice.h"
#include "client/page/pieces.h"
#include "client/page/sections.h"
#include "proto/memory.h"

#define HOLDS_NAMED 5

/* command NULL: there is none. */
static void next_step(struct html *h, const char *why, const char *command)
{
	html_open(h, "li");
	html_leaf(h, "p", NULL, why);
	if (command != NULL)
		piece_command(h, command);
	html_close(h);
}

static void next_commands(struct html *h, const json_t *hold)
{
	html_open_class(h, "div", "choices");
	for (const struct choice *choice = choices; choice->word != NULL; choice++) {
		char *command = choice_command(choice, hold);

		if (choice_applies(choice, hold))
			piece_command(h, command);
		free(command);
	}
	html_close(h);
}

static void next_hold(struct html *h, const json_t *hold, const struct page_frame *frame)
{
	html_open(h, "li");
	html_open(h, "p");
	html_attr(h, "dir", "auto");
	html_leaff(h, "strong", NULL, "Decide hold %lld", field_count(hold, "id"));
	html_text(h, ": ");
	if (*field_text(hold, "task") != '\0')
		html_textf(h, "%s, ", field_text(hold, "task"));
	piece_clip(h, field_text(hold, "reason"), 300);
	html_close(h);
	if (frame->decide != NULL)
		frame->decide(h, hold, frame);
	else
		next_commands(h, hold);
	html_close(h);
}

static bool next_is_running(const json_t *run)
{
	return (field_is(run, "state", "running") || field_is(run, "state", "queued")) && !field_true(run, "paused");
}

static bool next_is_paused(const json_t *run)
{
	return field_true(run, "paused");
}

static bool next_is_unjudged(const json_t *run)
{
	return field_is(run, "state", "failed") && field_end_kind(run) == END_VIOLATION;
}

static bool next_can_retry(const json_t *run)
{
	return field_is(run, "state", "failed") || field_is(run, "state", "cancelled");
}

static bool next_is_in_directory(const json_t *run)
{
	const json_t *overview = json_object_get(run, "overview");

	return field_is(run, "state", "succeeded") && *field_text(overview, "take") == '\0' &&
	    *field_text(overview, "show") == '\0' && field_count(overview, "branches") == 0 &&
	    *field_text(run, "result_commit") == '\0';
}

/* Commands about the run as a whole, by its number. */
static const struct {
	bool (*applies)(const json_t *run);
	const char *why, *command;
	const char *live;	/* all that a page says which follows the run; NULL: the same */
} steps[] = {
	{ next_is_running, "It is not over. Follow it:", "rlctl watch", "It is not over. This page follows it." },
	{ next_is_paused, "It is paused. Continue it:", "rlctl resume", NULL },
	{ next_is_unjudged, "The review gave no valid verdict. Have the work judged again:", "rlctl review again",
	    NULL },
	{ next_can_retry, "Continue what did not pass, with the work so far:", "rlctl retry", NULL },
};

static void next_take(struct html *h, const json_t *overview)
{
	const char *take = field_text(overview, "take"), *pick = field_text(overview, "pick"),
	           *show = field_text(overview, "show");

	if (*take != '\0')
		next_step(h, "Take what passed:", take);
	if (*pick != '\0')
		next_step(h, "Or take it without what was uncommitted at the start:", pick);
	if (*take == '\0' && field_count(overview, "branches") > 1)
		next_step(h, "Take what passed, task by task; the table of tasks has the branches:",
		    "git merge BRANCH");
	if (*show != '\0')
		next_step(h, strncmp(show, "git log", strlen("git log")) == 0 ?
		    "See the commit, which passed no review:" :
		    "See the commit, which is in the directory already:", show);
}

/* Without a branch and a commit the result is where the agents worked. */
static void next_in_directory(struct html *h, const json_t *run)
{
	char *why = xasprintf("The result is in %s, not committed. See what changed:", field_text(run, "workdir")),
	     *command = xasprintf("rlctl diff %lld", field_count(run, "id"));

	if (next_is_in_directory(run))
		next_step(h, why, command);
	free(why);
	free(command);
}

void section_next(struct html *h, const json_t *run, const struct page_frame *frame)
{
	const json_t *holds = field_array(run, "holds");
	size_t count = json_array_size(holds);
	char *more = xasprintf("rlctl hold list --run %lld", field_count(run, "id"));

	html_open(h, "section");
	html_attr(h, "id", "do");
	html_attr(h, "aria-labelledby", "do-title");
	html_open(h, "h2");
	html_attr(h, "id", "do-title");
	html_text(h, count > 0 ? "It needs your decision" : "What to do now");
	html_close(h);
	html_open_class(h, "ul", "steps");
	for (size_t i = 0; i < count && i < HOLDS_NAMED; i++)
		next_hold(h, json_array_get(holds, i), frame);
	next_take(h, json_object_get(run, "overview"));
	next_in_directory(h, run);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		char *command = xasprintf("%s %lld", steps[i].command, field_count(run, "id"));

		if (steps[i].applies(run) && frame->stream != NULL && steps[i].live != NULL)
			next_step(h, steps[i].live, NULL);
		else if (steps[i].applies(run))
			next_step(h, steps[i].why, command);
		free(command);
	}
	html_close(h);
	piece_left_out(h, count < HOLDS_NAMED ? count : HOLDS_NAMED, count, "open holds", more);
	html_close(h);
	free(more);
}
