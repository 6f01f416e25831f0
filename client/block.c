/* SPDX-License-Identifier: MIT */
#include "client/block.h"

#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/lines.h"
#include "client/print.h"
#include "client/run_view.h"
#include "client/status_tag.h"
#include "proto/memory.h"

#define INDENT "    "

char *block_duration(int64_t ms)
{
	return ms < 1000 ? xstrdup("0s") : print_duration(ms);
}

static const json_t *block_task_of(const struct view *view, const json_t *slot)
{
	const json_t *tasks = field_array(view->run, "tasks");
	const char *id = field_text(slot, "task");

	for (size_t i = 0; *id != '\0' && i < json_array_size(tasks); i++)
		if (field_is(json_array_get(tasks, i), "id", id))
			return json_array_get(tasks, i);
	return NULL;
}

static bool block_has_title(const struct view *view, const json_t *slot)
{
	return field_int(slot, "slot") != 0 && block_task_of(view, slot) != NULL;
}

/* The output of an ended attempt is of no use next to the result of its slot. */
static size_t block_preview_lines(const struct view *view, const json_t *slot, size_t most)
{
	size_t count = view_is_over(slot) ? 0 : json_array_size(field_array(view_preview(view, slot), "lines"));

	return count < most ? count : most;
}

size_t block_height(const struct view *view, const json_t *slot, size_t preview, bool title)
{
	return 1 + (title && block_has_title(view, slot)) + block_preview_lines(view, slot, preview);
}

/* "round 2/6": the round of a review, or of the fix after it. */
static void block_put_round(struct lines *l, const json_t *slot)
{
	int64_t round = field_int(slot, "round"), fixes = field_int(slot, "fixes");

	if (round > 0 && fixes != FIELD_NONE)
		lines_addf(l, PAINT_NONE, "  round %lld/%lld", (long long)round, (long long)fixes + 1);
}

static void block_put_age(struct lines *l, const struct view *view, const json_t *slot, const json_t *attempt)
{
	int64_t updated = field_time(view_preview(view, slot), "updated_at"),
	        started = field_time(attempt, "started_at");
	char *age;

	if (view_is_over(slot) || !field_is(attempt, "state", "running") ||
	    (updated == FIELD_NONE && started == FIELD_NONE))
		return;
	age = block_duration(view->now - (updated != FIELD_NONE ? updated : started));
	lines_addf(l, PAINT_DIM, "  %s %s ago", updated != FIELD_NONE ? "updated" : "started", age);
	free(age);
}

static bool is_command(const json_t *attempt)
{
	return field_is(attempt, "role", "check") || field_is(attempt, "role", "setup");
}

static void block_put_head(struct lines *l, const struct view *view, const json_t *slot, const char *mark)
{
	const json_t *attempt = view_attempt(view, slot);
	const char *agent = is_command(attempt) ? "" : field_text(attempt, "agent");
	int64_t events = field_int(view_preview(view, slot), "events"), next = field_time(slot, "next_at");
	char *name = status_tag_name(field_int(slot, "slot"));
	struct status_tag tag;

	status_tag_of(view->run, slot, attempt, events == FIELD_NONE ? 0 : events, &tag);
	lines_addf(l, PAINT_BOLD, "%s%s ", mark, name);
	lines_add(l, tag.paint, tag.word);
	if (tag.number != FIELD_NONE)
		lines_addf(l, tag.paint, " %lld", (long long)tag.number);
	if (next != FIELD_NONE) {
		char *left = block_duration(next > view->now ? next - view->now : 0);

		lines_addf(l, tag.paint, " %s", left);
		free(left);
	}
	if (*tag.text != '\0')
		lines_addf(l, PAINT_NONE, "  %s", tag.text);
	if (!view_is_over(slot) && *agent != '\0')
		lines_addf(l, PAINT_NONE, "  %s", agent);
	block_put_round(l, slot);
	block_put_age(l, view, slot, attempt);
	lines_end(l);
	status_tag_release(&tag);
	free(name);
}

static void block_put_title(struct lines *l, const struct view *view, const json_t *slot)
{
	const json_t *task = block_task_of(view, slot);

	lines_addf(l, PAINT_NONE, INDENT "%s  ", field_text(task, "id"));
	lines_add(l, PAINT_BOLD, field_text(task, "title"));
	lines_end(l);
}

static void block_put_preview(struct lines *l, const struct view *view, const json_t *slot, size_t most)
{
	const json_t *lines = field_array(view_preview(view, slot), "lines");
	size_t count = json_array_size(lines), shown = block_preview_lines(view, slot, most);

	for (size_t i = count - shown; i < count; i++) {
		const char *text = json_string_value(json_array_get(lines, i));

		lines_add(l, PAINT_DIM, INDENT "| ");
		lines_add(l, PAINT_NONE, text == NULL ? "" : text);
		lines_end(l);
	}
}

void block_put(struct lines *l, const struct view *view, const json_t *slot, size_t preview, bool title)
{
	block_put_head(l, view, slot, "  ");
	if (title && block_has_title(view, slot))
		block_put_title(l, view, slot);
	block_put_preview(l, view, slot, preview);
}

static const json_t *block_last_review(const struct view *view, const json_t *slot)
{
	for (size_t i = json_array_size(view->reviews); i-- > 0;) {
		const json_t *review = json_array_get(view->reviews, i);

		/* of a panel its decision */
		if (strcmp(field_text(review, "task_id"), view_reviewed(slot)) == 0 &&
		    *field_text(review, "reviewer") == '\0')
			return review;
	}
	return NULL;
}

static void block_put_finding(struct lines *l, const json_t *finding)
{
	const char *severity = field_text(finding, "severity"), *state = field_text(finding, "state");
	char *place = cell_place(finding, NULL);

	lines_add(l, PAINT_NONE, INDENT "- ");
	if (strcmp(state, "new") != 0)
		lines_addf(l, PAINT_DIM, "%s: ", state);
	lines_addf(l, PAINT_NONE, "%s%s", place, *place != '\0' ? " " : "");
	free(place);
	if (*severity != '\0')
		lines_addf(l, print_state_paint(severity), "%s: ", severity);
	lines_add(l, PAINT_NONE, field_text(finding, "text"));
	lines_end(l);
}

/* Use at most room lines; findings that do not fit are counted on the last line. */
static void block_put_review(struct lines *l, const struct view *view, const json_t *slot, size_t room)
{
	const json_t *review = block_last_review(view, slot), *findings = field_array(review, "findings");
	const char *decision = field_text(review, "decision"), *feedback = field_text(review, "feedback");
	size_t count = json_array_size(findings), shown;

	if (room == 0)
		return;
	if (review == NULL) {
		lines_add(l, PAINT_DIM, INDENT "not reviewed yet");
		lines_end(l);
		return;
	}
	lines_addf(l, PAINT_NONE, INDENT "review %lld by %s: ", field_count(review, "iteration"),
	    field_text(review, "reviewer_agent"));
	lines_add(l, print_state_paint(decision), decision);
	if (count > 0)
		lines_addf(l, PAINT_NONE, ", %zu finding%s", count, count == 1 ? "" : "s");
	lines_end(l);
	room--;
	if (*feedback != '\0' && room > 0) {
		lines_addf(l, PAINT_NONE, INDENT "%.*s", (int)strcspn(feedback, "\r\n"), feedback);
		lines_end(l);
		room--;
	}
	shown = count <= room ? count : room > 0 ? room - 1 : 0;
	for (size_t i = 0; i < shown; i++)
		block_put_finding(l, json_array_get(findings, i));
	if (shown < count && room > 0) {
		lines_addf(l, PAINT_DIM, INDENT "%zu more: rlctl review show %lld", count - shown,
		    field_count(view->run, "id"));
		lines_end(l);
	}
}

void block_chosen(struct lines *l, const struct view *view, const json_t *slot, bool review, bool marked, size_t room)
{
	if (room == 0)
		return;
	block_put_head(l, view, slot, marked ? "> " : "  ");
	room--;
	if (room > 0 && block_has_title(view, slot)) {
		block_put_title(l, view, slot);
		room--;
	}
	if (review)
		block_put_review(l, view, slot, room);
	else
		block_put_preview(l, view, slot, room < VIEW_PREVIEW ? room : VIEW_PREVIEW);
}
