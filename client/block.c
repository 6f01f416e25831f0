/* SPDX-License-Identifier: MIT */
#include "client/block.h"

#include <stdlib.h>
#include <string.h>

#include "client/badge.h"
#include "client/field.h"
#include "proto/memory.h"

#define INDENT "    "

char *block_duration(int64_t ms)
{
	return ms < 1000 ? xstrdup("0s") : print_duration(ms);
}

/* What is known of the output of the slot's attempt, NULL: nothing. */
static const json_t *preview_of(const struct screen_run *s, const json_t *slot)
{
	char key[24];
	int64_t id = field_int(slot, "attempt");

	if (id == FIELD_NONE)
		return NULL;
	snprintf(key, sizeof(key), "%lld", (long long)id);
	return json_object_get(s->previews, key);
}

static const json_t *task_of(const struct screen_run *s, const json_t *slot)
{
	const json_t *tasks = field_array(s->run, "tasks");
	const char *id = field_text(slot, "task");

	for (size_t i = 0; *id != '\0' && i < json_array_size(tasks); i++)
		if (strcmp(field_text(json_array_get(tasks, i), "id"), id) == 0)
			return json_array_get(tasks, i);
	return NULL;
}

static bool has_title(const struct screen_run *s, const json_t *slot)
{
	return field_int(slot, "slot") != 0 && task_of(s, slot) != NULL;
}

static bool is_over(const json_t *slot)
{
	const char *phase = field_text(slot, "phase");

	return strcmp(phase, "passed") == 0 || strcmp(phase, "failed") == 0 || strcmp(phase, "cancelled") == 0;
}

/* What an attempt said that is over is of no use beside the end of its slot. */
static size_t preview_lines(const struct screen_run *s, const json_t *slot, size_t most)
{
	size_t count = is_over(slot) ? 0 : json_array_size(field_array(preview_of(s, slot), "lines"));

	return count < most ? count : most;
}

size_t block_height(const struct screen_run *s, const json_t *slot, size_t preview, bool title)
{
	return 1 + (title && has_title(s, slot)) + preview_lines(s, slot, preview);
}

/* "round 2/6": of a review, or of the fix that follows it. */
static void put_round(struct lines *l, const json_t *slot)
{
	int64_t round = field_int(slot, "round"), fixes = field_int(slot, "fixes");

	if (round > 0 && fixes != FIELD_NONE)
		lines_addf(l, PAINT_NONE, "  round %lld/%lld", (long long)round, (long long)fixes + 1);
}

static void put_age(struct lines *l, const struct screen_run *s, const json_t *slot, const json_t *attempt)
{
	int64_t updated = field_time(preview_of(s, slot), "updated_at"), started = field_time(attempt, "started_at");
	char *age;

	if (is_over(slot) || strcmp(field_text(attempt, "state"), "running") != 0 || (updated == FIELD_NONE && started == FIELD_NONE))
		return;
	age = block_duration(s->now - (updated != FIELD_NONE ? updated : started));
	lines_addf(l, PAINT_DIM, "  %s %s ago", updated != FIELD_NONE ? "updated" : "started", age);
	free(age);
}

static void put_head(struct lines *l, const struct screen_run *s, const json_t *slot, const char *mark)
{
	const json_t *attempt = screen_attempt(s, slot);
	const char *agent = strcmp(field_text(attempt, "role"), "check") == 0 ? "" : field_text(attempt, "agent");
	int64_t events = field_int(preview_of(s, slot), "events"), next = field_time(slot, "next_at");
	char *name = badge_name(field_int(slot, "slot"));
	struct badge badge;

	badge_of(s->run, slot, attempt, events == FIELD_NONE ? 0 : events, &badge);
	lines_addf(l, PAINT_BOLD, "%s%s ", mark, name);
	lines_add(l, badge.paint, badge.word);
	if (badge.number != FIELD_NONE)
		lines_addf(l, badge.paint, " %lld", (long long)badge.number);
	if (next != FIELD_NONE) {
		char *left = block_duration(next > s->now ? next - s->now : 0);

		lines_addf(l, badge.paint, " %s", left);
		free(left);
	}
	if (*badge.text != '\0')
		lines_addf(l, PAINT_NONE, "  %s", badge.text);
	if (!is_over(slot) && *agent != '\0')
		lines_addf(l, PAINT_NONE, "  %s", agent);
	put_round(l, slot);
	put_age(l, s, slot, attempt);
	lines_end(l);
	badge_release(&badge);
	free(name);
}

static void put_title(struct lines *l, const struct screen_run *s, const json_t *slot)
{
	const json_t *task = task_of(s, slot);

	lines_addf(l, PAINT_NONE, INDENT "%s  ", field_text(task, "id"));
	lines_add(l, PAINT_BOLD, field_text(task, "title"));
	lines_end(l);
}

static void put_preview(struct lines *l, const struct screen_run *s, const json_t *slot, size_t most)
{
	const json_t *lines = field_array(preview_of(s, slot), "lines");
	size_t count = json_array_size(lines), shown = preview_lines(s, slot, most);

	for (size_t i = count - shown; i < count; i++) {
		const char *text = json_string_value(json_array_get(lines, i));

		lines_add(l, PAINT_DIM, INDENT "| ");
		lines_add(l, PAINT_NONE, text == NULL ? "" : text);
		lines_end(l);
	}
}

void block_put(struct lines *l, const struct screen_run *s, const json_t *slot, size_t preview, bool title)
{
	put_head(l, s, slot, "  ");
	if (title && has_title(s, slot))
		put_title(l, s, slot);
	put_preview(l, s, slot, preview);
}

const char *block_reviewed(const json_t *slot)
{
	const char *task = field_text(slot, "task");

	/* as the record of reviews calls the whole run, when it has several tasks */
	return *task == '\0' && field_int(slot, "slot") == 0 ? "run" : task;
}

static const json_t *last_review(const struct screen_run *s, const json_t *slot)
{
	for (size_t i = json_array_size(s->reviews); i-- > 0;) {
		const json_t *review = json_array_get(s->reviews, i);

		if (strcmp(field_text(review, "task_id"), block_reviewed(slot)) == 0)
			return review;
	}
	return NULL;
}

static void put_finding(struct lines *l, const json_t *finding)
{
	const char *file = field_text(finding, "file"), *severity = field_text(finding, "severity"), *state = field_text(finding, "state");

	lines_add(l, PAINT_NONE, INDENT "- ");
	if (strcmp(state, "new") != 0)
		lines_addf(l, PAINT_DIM, "%s: ", state);
	if (field_int(finding, "line") != FIELD_NONE)
		lines_addf(l, PAINT_NONE, "%s:%lld ", file, (long long)field_int(finding, "line"));
	else if (*file != '\0')
		lines_addf(l, PAINT_NONE, "%s ", file);
	if (*severity != '\0')
		lines_addf(l, print_state_paint(severity), "%s: ", severity);
	lines_add(l, PAINT_NONE, field_text(finding, "text"));
	lines_end(l);
}

/* In at most room lines; more findings than that are counted on the last one. */
static void put_review(struct lines *l, const struct screen_run *s, const json_t *slot, size_t room)
{
	const json_t *review = last_review(s, slot), *findings = field_array(review, "findings");
	const char *decision = field_text(review, "decision"), *feedback = field_text(review, "feedback");
	size_t count = json_array_size(findings), shown;

	if (room == 0)
		return;
	if (review == NULL) {
		lines_add(l, PAINT_DIM, INDENT "not reviewed yet");
		lines_end(l);
		return;
	}
	lines_addf(l, PAINT_NONE, INDENT "review %lld by %s: ", (long long)field_int(review, "iteration"), field_text(review, "reviewer_agent"));
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
		put_finding(l, json_array_get(findings, i));
	if (shown < count && room > 0) {
		lines_addf(l, PAINT_DIM, INDENT "%zu more: rlctl review show %lld", count - shown, (long long)field_int(s->run, "id"));
		lines_end(l);
	}
}

void block_chosen(struct lines *l, const struct screen_run *s, const json_t *slot, bool review, bool marked, size_t room)
{
	if (room == 0)
		return;
	put_head(l, s, slot, marked ? "> " : "  ");
	room--;
	if (room > 0 && has_title(s, slot)) {
		put_title(l, s, slot);
		room--;
	}
	if (review)
		put_review(l, s, slot, room);
	else
		put_preview(l, s, slot, room < SCREEN_PREVIEW ? room : SCREEN_PREVIEW);
}
