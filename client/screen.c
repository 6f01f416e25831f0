/* SPDX-License-Identifier: MIT */
#include "client/screen.h"

#include <stdlib.h>
#include <string.h>

#include "client/block.h"
#include "client/cell.h"
#include "client/field.h"
#include "client/lines.h"
#include "client/print.h"
#include "client/status_tag.h"
#include "client/task_summary.h"
#include "proto/escape.h"
#include "proto/memory.h"

#define LIST_AGE_COLUMNS 40	/* below, the list shows no ages */
#define HEADER_MAX 3
#define BETWEEN " | "		/* separator of two iterations */

static const json_t *screen_slot_at(const json_t *run, size_t i)
{
	return json_array_get(field_array(run, "slots"), i);
}

static bool screen_is_in_review(const json_t *slot)
{
	return field_is(slot, "phase", "fixing") ||
	    (field_is(slot, "phase", "reviewing") && field_int(slot, "round") > 0);
}

void screen_follow(struct screen_choice *choice, const json_t *run)
{
	size_t count = json_array_size(field_array(run, "slots"));
	bool in_review;

	if (choice->slot >= count)
		choice->slot = count > 0 ? count - 1 : 0;
	in_review = screen_is_in_review(screen_slot_at(run, choice->slot));
	if (in_review && !choice->in_review) {
		choice->before = choice->tab;
		choice->tab = SCREEN_REVIEW;
	} else if (!in_review && choice->in_review) {
		choice->tab = choice->before;
	}
	choice->in_review = in_review;
}

void screen_choose(struct screen_choice *choice, const json_t *run, size_t slot)
{
	if (slot == choice->slot || slot >= json_array_size(field_array(run, "slots")))
		return;
	if (choice->in_review)
		choice->tab = choice->before;
	choice->in_review = false;
	choice->slot = slot;
	screen_follow(choice, run);
}

void screen_turn(struct screen_choice *choice)
{
	choice->tab = choice->tab == SCREEN_OUTPUT ? SCREEN_REVIEW : SCREEN_OUTPUT;
}

/* ---- the head ---- */

/* Another fact on the line, or on the next one if it does not fit. */
static void screen_put(struct lines *l, enum paint paint, char *text)
{
	if (*text != '\0') {
		if (l->used > 0 && text_width(text) + 2 > lines_left(l))
			lines_end(l);
		if (l->used > 0)
			lines_add(l, PAINT_NONE, "  ");
		lines_add(l, paint, text);
	}
	free(text);
}

static char *screen_iteration_text(const json_t *run)
{
	int64_t now = field_int(run, "iteration"), limit = field_int(run, "iterations");

	if (field_is(run, "source", "prompt") || now == FIELD_NONE || now == 0)
		return xstrdup("");
	return limit == FIELD_NONE
	    ? xasprintf("iteration %lld", (long long)now)
	    : xasprintf("iteration %lld/%lld", (long long)now, (long long)limit);
}

/* "3/30 done, 1 failed, 1 held". */
static char *screen_progress_text(const json_t *run)
{
	const json_t *tasks = field_array(run, "tasks");
	size_t total = 0, passed = 0, failed = 0, held = json_array_size(field_array(run, "holds"));
	char *text, *failed_text, *held_text;

	for (size_t i = 0; i < json_array_size(tasks); i++) {
		const json_t *task = json_array_get(tasks, i);

		total += !field_is(task, "state", "done") && !field_is(task, "state", "taken");
		passed += field_is(task, "state", "passed");
		failed += field_is(task, "state", "failed");
	}
	if (total == 0)
		return xstrdup("");
	failed_text = failed > 0 ? xasprintf(", %zu failed", failed) : xstrdup("");
	held_text = held > 0 ? xasprintf(", %zu held", held) : xstrdup("");
	text = xasprintf("%zu/%zu done%s%s", passed, total, failed_text, held_text);
	free(failed_text);
	free(held_text);
	return text;
}

static char *screen_elapsed_text(const struct view *view)
{
	int64_t started = field_time(view->run, "started_at"), ended = field_time(view->run, "ended_at");

	if (started == FIELD_NONE)
		return xstrdup("");
	return block_duration((ended == FIELD_NONE ? view->now : ended) - started);
}

static void screen_put_tokens(struct lines *l, const json_t *totals)
{
	char *tokens = cell_tokens(totals, NULL);

	screen_put(l, PAINT_NONE, *tokens == '\0' ? xstrdup("") : xasprintf("%s tokens", tokens));
	free(tokens);
	screen_put(l, PAINT_NONE, cell_cost(totals, "cost_usd"));
}

/* Why the run ended or waits, and the time until the next try. */
static char *screen_why_text(const struct view *view)
{
	char *why = cell_why(view->run, NULL), *left, *text;
	int64_t next = field_time(view->run, "next_at");

	if (next == FIELD_NONE)
		return why;
	left = block_duration(next - view->now);
	text = xasprintf("%s%snext try in %s", why, *why != '\0' ? "; " : "", left);
	free(left);
	free(why);
	return text;
}

static void screen_head(struct lines *l, const struct view *view)
{
	const json_t *run = view->run;
	const char *state = field_text(run, "state");
	char *why = screen_why_text(view);

	screen_put(l, PAINT_BOLD, xasprintf("Run %lld", field_count(run, "id")));
	screen_put(l, print_state_paint(state), xstrdup(state));
	screen_put(l, PAINT_NONE, xstrdup(field_text(run, "source")));
	screen_put(l, PAINT_NONE, screen_iteration_text(run));
	screen_put(l, PAINT_NONE, screen_progress_text(run));
	screen_put_tokens(l, json_object_get(run, "totals"));
	screen_put(l, PAINT_NONE, screen_elapsed_text(view));
	lines_end(l);
	if (*why != '\0') {
		lines_add(l, PAINT_YELLOW, why);
		lines_end(l);
	}
	free(why);
}

/* ---- the iterations so far ---- */

/* Number of lost attempts that were repeated. */
static size_t screen_retries(const json_t *attempts, int64_t iteration)
{
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(attempts); i++) {
		const json_t *a = json_array_get(attempts, i);

		if (!field_is(a, "state", "lost") || field_int(a, "iteration") != iteration)
			continue;
		for (size_t j = i + 1; j < json_array_size(attempts); j++) {
			const json_t *b = json_array_get(attempts, j);

			if (field_int(b, "iteration") == iteration && field_int(b, "slot") == field_int(a, "slot")) {
				count++;
				break;
			}
		}
	}
	return count;
}

static char *screen_outcome_text(const struct view *view, const json_t *iteration)
{
	int64_t number = field_int(iteration, "number");
	size_t again = screen_retries(view->attempts, number);

	if (again == 0)
		return xasprintf("%lld %s", (long long)number, field_text(iteration, "state"));
	return xasprintf("%lld %s, %zu retr%s", (long long)number, field_text(iteration, "state"),
	    again, again == 1 ? "y" : "ies");
}

/* As many of the newest iterations as fit on the line. Nothing if only the first one has begun. */
static void screen_history(struct lines *l, const struct view *view)
{
	const json_t *history = field_array(view->run, "history");
	size_t count = json_array_size(history), first = count, used = 0;
	char **texts;

	if (count == 0 ||
	    (count == 1 &&
	        screen_retries(view->attempts, field_int(json_array_get(history, 0), "number")) ==
	            0))
		return;
	lines_add(l, PAINT_DIM, "iterations: ");
	texts = xreallocarray(NULL, count, sizeof(*texts));
	for (size_t i = 0; i < count; i++)
		texts[i] = screen_outcome_text(view, json_array_get(history, i));
	while (first > 0) {
		size_t more = used + (used > 0 ? strlen(BETWEEN) : 0) + text_width(texts[first - 1]);

		if (more + (first > 1 ? 2 : 0) > lines_left(l))
			break;
		used = more;
		first--;
	}
	if (first > 0)
		lines_add(l, PAINT_DIM, "… ");
	for (size_t i = first; i < count; i++) {
		lines_add(l, PAINT_DIM, i > first ? BETWEEN : "");
		lines_add(l, print_state_paint(field_text(json_array_get(history, i), "state")), texts[i]);
	}
	lines_end(l);
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

/* ---- the blocks ---- */

/* Sizes of the blocks: the first that fits is used. */
static const struct {
	size_t preview;
	bool title;
} measures[] = { { 3, true }, { 2, true }, { 1, true }, { 0, true }, { 0, false } };

/* The chosen block keeps its size, the others shrink; if even one line each is too much, those
 * around the chosen one are shown. */
static void screen_body(struct lines *l, const struct view *view, const struct screen_choice *choice, size_t room)
{
	const json_t *slots = field_array(view->run, "slots");
	size_t count = json_array_size(slots), i = 0, need, chosen_room, from = 0, to = count;

	for (i = 0; i < ARRAY_SIZE(measures); i++) {
		need = 0;
		for (size_t n = 0; n < count; n++)
			if (n != choice->slot)
				need += block_height(view, json_array_get(slots, n),
				    measures[i].preview, measures[i].title);
		/* three lines of the chosen block are worth more than the previews of the others */
		if (need + 3 <= room)
			break;
	}
	if (i == ARRAY_SIZE(measures)) {
		i--;
		need = count > 0 ? count - 1 : 0;
	}
	if (need + 1 > room) {
		to = room;
		from = choice->slot < room ? 0 : choice->slot - room + 1;
		to = from + room < count ? from + room : count;
		need = to - from > 0 ? to - from - 1 : 0;
	}
	chosen_room = room > need ? room - need : 0;
	for (size_t n = from; n < to; n++) {
		const json_t *slot = json_array_get(slots, n);

		if (n == choice->slot)
			block_chosen(l, view, slot, choice->tab == SCREEN_REVIEW, count > 1, chosen_room);
		else
			block_put(l, view, slot, measures[i].preview, measures[i].title);
	}
}

static void screen_foot(struct lines *l, const struct view *view, size_t room)
{
	if (room >= 2) {
		lines_add(l, PAINT_DIM, view->last == NULL ? "" : view->last);
		lines_end(l);
	}
	if (room >= 1) {
		lines_add(l, PAINT_DIM, view->keys == NULL ? "" : view->keys);
		lines_end(l);
	}
}

/* Make it exactly so many lines. */
static void screen_cut_or_fill(struct lines *l, size_t from, size_t height)
{
	while (l->count > from + height)
		free(l->line[--l->count]);
	while (l->count < from + height)
		lines_end(l);
}

void screen_run(struct lines *l, const struct view *view, const struct screen_choice *choice, size_t height)
{
	size_t foot_lines = height >= 8 ? 2 : height >= 4 ? 1 : 0, room = height - foot_lines;

	screen_head(l, view);
	if (height >= 4 && l->count > HEADER_MAX)
		screen_cut_or_fill(l, 0, HEADER_MAX);
	if (height >= 10)
		screen_history(l, view);
	if (l->count < room)
		screen_body(l, view, choice, room - l->count);
	screen_cut_or_fill(l, 0, room);
	screen_foot(l, view, foot_lines);
}

void screen_slots(struct lines *l, const struct view *view)
{
	const json_t *slots = field_array(view->run, "slots");

	for (size_t i = 0; i < json_array_size(slots); i++)
		block_put(l, view, json_array_get(slots, i), VIEW_PREVIEW, true);
}

/* ---- the list ---- */

/* Why it waits takes at most half of the room, where both do not fit. */
static void screen_list_texts(struct lines *l, const char *reason, const char *title)
{
	size_t left = lines_left(l), half = left / 2 > 2 ? left / 2 - 2 : 1;
	char *why = print_clip(reason, text_width(reason) + 2 + text_width(title) > left ? half : 0);

	lines_add(l, PAINT_YELLOW, why);
	lines_add(l, PAINT_NONE, *why == '\0' ? "" : "  ");
	lines_add(l, PAINT_NONE, title);
	free(why);
}

static void screen_list_row(struct lines *l, const json_t *run, bool chosen, int64_t now)
{
	const json_t *slots = field_array(run, "slots");
	const char *state = field_text(run, "state"), *reason = field_text(run, "reason");
	char *title = tasks_are_many(run) ? tasks_counts(run) : cell_text(run, "title"), *age;
	int64_t since = field_time(run, "started_at");

	if (since == FIELD_NONE)
		since = field_time(run, "created_at");
	age = since == FIELD_NONE ? xstrdup("") : block_duration(now - since);
	lines_addf(l, chosen ? PAINT_BOLD : PAINT_NONE, "%s%5lld  ", chosen ? ">" : " ", field_count(run, "id"));
	lines_addf(l, print_state_paint(state), "%-9s", state);
	lines_addf(l, PAINT_NONE, l->width >= LIST_AGE_COLUMNS ? " %8s  " : " ", age);
	free(age);
	for (size_t i = 0; i < json_array_size(slots); i++) {
		const json_t *slot = json_array_get(slots, i);
		struct status_tag tag;

		status_tag_of(run, slot, NULL, 0, &tag);
		lines_add(l, tag.paint, field_is(slot, "phase", "implementing") ? "RUN" : tag.word);
		lines_add(l, PAINT_NONE, i + 1 < json_array_size(slots) ? "," : "  ");
		status_tag_release(&tag);
	}
	screen_list_texts(l, reason, title);
	free(title);
	lines_end(l);
}

void screen_list(struct lines *l, const json_t *runs, size_t chosen, const char *filter, const char *keys,
    int64_t now, size_t height)
{
	size_t count = json_array_size(runs), foot_lines = height >= 4 ? 1 : 0,
	       room = height - foot_lines - (height > 1), from = 0;

	if (height > 1) {
		lines_addf(l, PAINT_BOLD, count == 1 ? "%zu unfinished run" : "%zu unfinished runs", count);
		if (filter != NULL)
			lines_addf(l, PAINT_NONE, " with %s", filter);
		lines_end(l);
	}
	if (chosen >= room)
		from = chosen - room + 1;
	for (size_t i = from; i < count && i < from + room; i++)
		screen_list_row(l, json_array_get(runs, i), i == chosen, now);
	screen_cut_or_fill(l, 0, height - foot_lines);
	if (foot_lines > 0) {
		lines_add(l, PAINT_DIM, keys);
		lines_end(l);
	}
}
