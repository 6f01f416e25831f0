/* SPDX-License-Identifier: MIT */
#include "client/page/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/page/pieces.h"
#include "client/page/timeline_layout.h"
#include "client/page/timescale.h"
#include "client/print.h"
#include "proto/escape.h"
#include "proto/memory.h"

#define DESKTOP_WIDE 1000	/* px */
#define LETTER_WIDE 7

/* Roles in the order of the legend. */
static const char *const roles[] = { "implement", "check", "review", "fix", "commit", "setup" };

static bool timeline_is_bad(const json_t *attempt)
{
	return *field_text(attempt, "fault") != '\0' || field_is(attempt, "state", "lost");
}

/* "42/3 review by codex, T-07, round 2: 3m 05s, $0.12" */
static void timeline_bar_title(struct html *h, const json_t *d, const json_t *attempt)
{
	char *name = piece_attempt(attempt), *took = piece_took(d, attempt), *cost = cell_cost(attempt, "cost_usd"),
	     *fault = cell_fault(attempt, NULL);
	const char *task = field_text(attempt, "task"), *agent = field_text(attempt, "agent");

	html_open(h, "title");
	html_textf(h, "%s %s", name, field_text(attempt, "role"));
	if (*agent != '\0') {
		html_text(h, field_is(attempt, "role", "check") ? ": " : " by ");
		piece_clip(h, agent, 80);
	}
	if (*task != '\0') {
		html_text(h, ", ");
		piece_clip(h, task, 60);
	}
	if (field_count(attempt, "round") > 0)
		html_textf(h, ", round %lld", field_count(attempt, "round"));
	html_textf(h, ": %s%s%s%s%s", took, *cost != '\0' ? ", " : "", cost, *fault != '\0' ? ", " : "", fault);
	html_close(h);
	free(name);
	free(took);
	free(cost);
	free(fault);
}

static void timeline_draw_bar(struct html *h, const struct timeline *t, const json_t *d,
    const struct timeline_block *block, const struct timeline_bar *bar)
{
	double from = timescale_at(&t->scale, bar->span.from), to = timescale_at(&t->scale, bar->span.to);
	size_t top = t->rows[block->row].top + LABEL_TALL + bar->line * (BAR_TALL + BAR_GAP);

	html_open(h, "rect");
	html_attrf(h, "class", "bar %s%s%s", field_text(bar->attempt, "role"),
	    timeline_is_bad(bar->attempt) ? " faulty" : "",
	    field_time(bar->attempt, "ended_at") == FIELD_NONE ? " open" : "");
	html_attrf(h, "x", "%.3f%%", from);
	html_attrf(h, "y", "%zu", top);
	html_attrf(h, "width", "%.3f%%", to - from < 0.15 ? 0.15 : to - from);
	html_attrf(h, "height", "%d", BAR_TALL);
	timeline_bar_title(h, d, bar->attempt);
	html_close(h);
	if (!timeline_is_bad(bar->attempt))
		return;
	/* not by colour alone */
	html_open(h, "rect");
	html_attr(h, "class", "fault");
	html_attrf(h, "x", "%.3f%%", from);
	html_attrf(h, "y", "%zu", top + BAR_TALL - 3);
	html_attrf(h, "width", "%.3f%%", to - from < 0.15 ? 0.15 : to - from);
	html_attr(h, "height", "5");
	html_close(h);
}

/* Bars of a row that is crowded get at least a few pixels each: the picture then scrolls. */
static size_t timeline_wide(const struct timeline *t)
{
	size_t most = 0;

	for (size_t row = 0; row < t->row_count; row++) {
		size_t bars = 0;

		for (size_t i = 0; i < t->count; i++)
			bars += t->blocks[i].row == row ? t->blocks[i].count : 0;
		most = bars > most ? bars : most;
	}
	return most * 8 < 4000 ? most * 8 : 4000;
}

/* The name of the task above its bars; nothing where it has no room before the next one, on a
 * desktop. */
static void timeline_draw_label(struct html *h, const struct timeline *t, const struct timeline_block *block,
    double until)
{
	double from = timescale_at(&t->scale, block->span.from);
	const char *task = *block->task != '\0' ? block->task : block->slot == 0 ? "all tasks" : "base";
	double px = (until - from) / 100 * (double)(timeline_wide(t) > DESKTOP_WIDE ? timeline_wide(t) : DESKTOP_WIDE);

	if (px < (double)text_width(task) * LETTER_WIDE)
		return;
	html_open(h, "svg");
	html_attrf(h, "x", "%.3f%%", from);
	html_attrf(h, "y", "%zu", t->rows[block->row].top);
	html_attrf(h, "width", "%.3f%%", until - from);
	html_attrf(h, "height", "%d", LABEL_TALL);
	html_open_class(h, "text", "label");
	html_attr(h, "y", "12");
	piece_clip(h, task, 60);
	html_close(h);
	html_close(h);
}

/* Where the next block of the same row begins. */
static double timeline_next(const struct timeline *t, size_t index)
{
	for (size_t i = index + 1; i < t->count; i++)
		if (t->blocks[i].row == t->blocks[index].row)
			return timescale_at(&t->scale, t->blocks[i].span.from);
	return 100.0;
}

/* Bands where nothing ran. */
static void timeline_draw_idle(struct html *h, const struct timeline *t)
{
	for (size_t i = 0; i < t->scale.count; i++) {
		const struct timescale_part *part = &t->scale.parts[i];
		char *span = print_duration(part->span.to - part->span.from);

		if (part->idle) {
			html_open(h, "rect");
			html_attr(h, "class", "idle");
			html_attrf(h, "x", "%.3f%%", part->at);
			html_attr(h, "y", "0");
			html_attrf(h, "width", "%.3f%%", part->width);
			html_attrf(h, "height", "%zu", t->tall);
			html_leaff(h, "title", NULL, "nothing ran for %s", span);
			html_close(h);
		}
		free(span);
	}
}

static void timeline_draw(struct html *h, const struct timeline *t, const json_t *d)
{
	html_open_class(h, "div", "scroll timeline");
	html_attr(h, "role", "region");
	html_attr(h, "tabindex", "0");
	html_attr(h, "aria-label", "Attempts over time");
	html_open(h, "svg");
	html_attr(h, "width", "100%");
	html_attrf(h, "height", "%zu", t->tall);
	html_attrf(h, "style", "min-width:%zupx", timeline_wide(t));
	html_attr(h, "role", "img");
	html_attr(h, "aria-label", "Bars of all attempts over time; the table below has the same");
	timeline_draw_idle(h, t);
	for (size_t i = 0; i < t->count; i++) {
		timeline_draw_label(h, t, &t->blocks[i], timeline_next(t, i));
		for (size_t n = 0; n < t->blocks[i].count; n++)
			timeline_draw_bar(h, t, d, &t->blocks[i], &t->blocks[i].bars[n]);
	}
	html_close(h);
	html_close(h);
}

/* The first and the last moment, and how long nothing ran. */
static void timeline_axis(struct html *h, const struct timeline *t)
{
	const struct timescale_part *last = &t->scale.parts[t->scale.count - 1];
	char *from = print_clock(t->scale.parts[0].span.from), *to = print_clock(last->span.to),
	     *span = print_duration(last->span.to - t->scale.parts[0].span.from), *idle;
	int64_t left_out = 0;

	for (size_t i = 0; i < t->scale.count; i++)
		if (t->scale.parts[i].idle)
			left_out += t->scale.parts[i].span.to - t->scale.parts[i].span.from;
	idle = print_duration(left_out);
	html_open_class(h, "div", "axis");
	html_leaf(h, "span", NULL, from);
	html_leaff(h, "span", NULL, "%s%s%s%s", span, left_out > 0 ? ", of which nothing ran for " : "",
	    left_out > 0 ? idle : "", left_out > 0 ? " (narrow bands)" : "");
	html_leaf(h, "span", NULL, to);
	html_close(h);
	free(from);
	free(to);
	free(span);
	free(idle);
}

static void timeline_legend(struct html *h, const json_t *attempts)
{
	bool faulty = false;

	html_open_class(h, "ul", "legend");
	for (size_t role = 0; role < ARRAY_SIZE(roles); role++) {
		size_t count = 0;

		for (size_t i = 0; i < json_array_size(attempts); i++)
			count += field_is(json_array_get(attempts, i), "role", roles[role]);
		if (count == 0)
			continue;
		html_open(h, "li");
		html_open(h, "span");
		html_attrf(h, "class", "key %s", roles[role]);
		html_close(h);
		html_textf(h, "%zu %s", count, roles[role]);
		html_close(h);
	}
	for (size_t i = 0; i < json_array_size(attempts) && !faulty; i++)
		faulty = timeline_is_bad(json_array_get(attempts, i));
	if (faulty) {
		html_open(h, "li");
		html_open_class(h, "span", "key fault");
		html_close(h);
		html_text(h, "underlined: not successful");
		html_close(h);
	}
	html_close(h);
}

static void timeline_row(struct html *h, const json_t *d, const json_t *attempt)
{
	html_open(h, "tr");
	piece_row_head(h, piece_attempt(attempt));
	piece_cell(h, NULL, cell_text(attempt, "task"));
	piece_cell(h, NULL, cell_text(attempt, "role"));
	html_open_class(h, "td", "clip");
	piece_clip(h, field_text(attempt, "agent"), 80);
	html_close(h);
	html_open(h, "td");
	piece_time(h, attempt, "started_at");
	html_close(h);
	piece_cell(h, "num", piece_took(d, attempt));
	piece_cell(h, "num", cell_exit(attempt, NULL));
	html_open(h, "td");
	piece_state(h, timeline_is_bad(attempt) ? "failed" : "");
	html_close(h);
	html_open_class(h, "td", "clip");
	piece_clip(h, field_text(attempt, "cause"), 200);
	html_close(h);
	html_close(h);
}

static void timeline_table(struct html *h, const json_t *d)
{
	static const struct piece_column columns[] = { { "Attempt", NULL }, { "Task", NULL }, { "Role", NULL },
		{ "Agent or command", NULL }, { "Started", NULL }, { "Took", "num" }, { "Exit", "num" },
		{ "Fault", NULL }, { "Why", NULL }, { NULL, NULL } };
	const json_t *attempts = field_array(d, "attempts");
	long long run = field_count(json_object_get(d, "run"), "id");
	size_t all = json_array_size(attempts), shown = all < PIECE_ATTEMPTS_MAX ? all : PIECE_ATTEMPTS_MAX;
	char *more = xasprintf("rlctl show %lld", run);

	html_open(h, "details");
	html_leaff(h, "summary", NULL, "All attempts as a table");
	piece_table(h, "Attempts in order of their start", columns);
	for (size_t i = 0; i < shown; i++)
		timeline_row(h, d, json_array_get(attempts, i));
	piece_table_end(h);
	html_close(h);
	piece_left_out(h, shown, all, "attempts", more);
	free(more);
}

void timeline_view(struct html *h, const json_t *d)
{
	struct timeline t = { 0 };

	if (layout_read(&t, d)) {
		piece_section(h, "timeline", "Timeline");
		timeline_legend(h, field_array(d, "attempts"));
		timeline_draw(h, &t, d);
		timeline_axis(h, &t);
		timeline_table(h, d);
		html_close(h);
	}
	layout_release(&t);
}
