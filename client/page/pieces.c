/* SPDX-License-Identifier: MIT */
#include "client/page/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/print.h"
#include "client/task_summary.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/units.h"

/* Words that a terminal does not colour. */
static const struct {
	const char *word, *tone;
} tones[] = {
	{ "green", "good" }, { "red", "bad" }, { "flaky", "warn" }, { "none", "dim" }, { "new", "warn" },
	{ "repeated", "warn" }, { "resolved", "good" }, { "dismissed", "dim" }, { "outvoted", "dim" },
	{ "disputed", "warn" }, { "claimed", "live" }, { "implemented", "live" }, { "queued", "dim" },
};

const char *piece_tone(const char *state)
{
	static const char *const of_paint[] = {
		[PAINT_NONE] = "dim", [PAINT_BOLD] = "dim", [PAINT_DIM] = "dim", [PAINT_RED] = "bad",
		[PAINT_GREEN] = "good", [PAINT_YELLOW] = "warn", [PAINT_CYAN] = "live",
	};

	for (size_t i = 0; i < ARRAY_SIZE(tones); i++)
		if (strcmp(tones[i].word, state) == 0)
			return tones[i].tone;
	return of_paint[print_state_paint(state)];
}

void piece_state(struct html *h, const char *state)
{
	if (*state == '\0')
		return;
	html_open(h, "span");
	html_attrf(h, "class", "state %s", piece_tone(state));
	html_text(h, state);
	html_close(h);
}

void piece_task_state(struct html *h, const json_t *task)
{
	piece_state(h, field_wait_kind(task) == WAIT_DECISION ? "held" : field_text(task, "state"));
}

/* Length of text cut to at most max bytes, at the end of a character. */
static size_t piece_fit(const char *text, size_t max)
{
	size_t size = strnlen(text, max + 1);

	return size <= max ? size : max - text_unfinished(text, max);
}

static void piece_cut(struct html *h, size_t shown, size_t all, const char *more)
{
	char size[32];

	if (shown == all)
		return;
	size_format((int64_t)(all - shown), size, sizeof(size));
	html_open_class(h, "p", "cut");
	html_textf(h, "%s more is left out here; ", size);
	html_leaf(h, "code", NULL, more);
	html_text(h, " shows all of it.");
	html_close(h);
}

void piece_prose(struct html *h, const char *text, const char *more)
{
	size_t size = piece_fit(text, PIECE_TEXT_MAX), all = strlen(text), kept = size;

	while (kept > 0 && strchr(" \t\r\n", text[kept - 1]) != NULL)
		kept--;
	html_open_class(h, "div", "prose");
	html_attr(h, "dir", "auto");
	html_bytes(h, text, kept);
	html_close(h);
	piece_cut(h, size, all, more);
}

void piece_folded(struct html *h, const char *summary, const char *text, const char *more)
{
	html_open(h, "details");
	html_leaf(h, "summary", NULL, summary);
	piece_prose(h, text, more);
	html_close(h);
}

void piece_left_out(struct html *h, size_t shown, size_t all, const char *what, const char *more)
{
	if (shown >= all)
		return;
	html_open_class(h, "p", "cut");
	html_textf(h, "%zu of %zu %s; ", shown, all, what);
	html_leaf(h, "code", NULL, more);
	html_text(h, " shows all of them.");
	html_close(h);
}

void piece_clip(struct html *h, const char *text, size_t columns)
{
	char *line = xmemdup0(text, strcspn(text, "\r\n")), *clipped = print_clip(line, columns);

	html_text(h, clipped);
	free(line);
	free(clipped);
}

void piece_command(struct html *h, const char *command)
{
	html_open_class(h, "p", "command");
	html_leaf(h, "code", NULL, command);
	html_close(h);
}

void piece_facts(struct html *h)
{
	html_open_class(h, "dl", "facts");
}

void piece_fact(struct html *h, const char *name, char *value)
{
	if (*value != '\0') {
		html_open(h, "div");
		html_leaf(h, "dt", NULL, name);
		html_open(h, "dd");
		html_attr(h, "dir", "auto");
		html_text(h, value);
		html_close(h);
		html_close(h);
	}
	free(value);
}

void piece_table(struct html *h, const char *caption, const struct piece_column *columns)
{
	html_open_class(h, "div", "scroll");
	html_attr(h, "role", "region");
	html_attr(h, "tabindex", "0");
	html_attr(h, "aria-label", caption);
	html_open(h, "table");
	html_leaf(h, "caption", NULL, caption);
	html_open(h, "thead");
	html_open(h, "tr");
	for (; columns->title != NULL; columns++) {
		html_open_class(h, "th", columns->class);
		html_attr(h, "scope", "col");
		html_text(h, columns->title);
		html_close(h);
	}
	html_close(h);
	html_close(h);
	html_open(h, "tbody");
}

void piece_table_end(struct html *h)
{
	html_close(h);
	html_close(h);
	html_close(h);
}

void piece_cell(struct html *h, const char *class, char *text)
{
	html_leaf(h, "td", class, text);
	free(text);
}

void piece_row_head(struct html *h, char *text)
{
	html_open(h, "th");
	html_attr(h, "scope", "row");
	html_text(h, text);
	html_close(h);
	free(text);
}

void piece_hash(struct html *h, const char *hash)
{
	if (*hash == '\0')
		return;
	html_open(h, "code");
	html_attr(h, "title", hash);
	html_textf(h, "%.12s", hash);
	html_close(h);
}

char *piece_count(long long count, const char *one)
{
	return xasprintf("%lld %s%s", count, one, count == 1 ? "" : "s");
}

char *piece_tasks(const json_t *run)
{
	static const struct {
		const char *state, *words;
	} rows[] = {
		{ "failed", "failed" }, { "cancelled", "cancelled" }, { "claimed", "under way" },
		{ "implemented", "wait for the review of the run" }, { "open", "not begun" }, { "done", "done before" },
		{ "taken", "taken by others" }, { "released", "given back" },
	};
	const json_t *overview = json_object_get(run, "overview"), *states = json_object_get(overview, "states");
	long long held = field_count(overview, "held");
	struct buf text = { 0 };

	buf_addf(&text, "%lld of %lld tasks passed", field_count(states, "passed"), field_count(overview, "tasks"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		long long count = field_count(states, rows[i].state);

		/* those that are held are claimed */
		count -= strcmp(rows[i].state, "claimed") == 0 ? held : 0;
		if (count > 0)
			buf_addf(&text, ", %lld %s", count, rows[i].words);
	}
	if (held > 0)
		buf_addf(&text, ", %lld wait%s for a decision", held, held == 1 ? "s" : "");
	return buf_take(&text, NULL);
}

char *piece_title_text(const json_t *run)
{
	const char *project = field_text(run, "project");

	return !tasks_are_many(run) ? xstrdup(field_text(run, "title")) :
	    xasprintf("%lld tasks of %s", field_count(json_object_get(run, "overview"), "tasks"),
	    *project != '\0' ? project : field_text(run, "source"));
}

void piece_title(struct html *h, const json_t *run, size_t columns)
{
	char *title = piece_title_text(run);

	piece_clip(h, title, columns);
	free(title);
}

char *piece_attempt(const json_t *attempt)
{
	return xasprintf("%lld/%lld", field_count(attempt, "run"), field_count(attempt, "number"));
}

void piece_section(struct html *h, const char *id, const char *title)
{
	html_open(h, "section");
	html_attr(h, "id", id);
	html_attrf(h, "aria-labelledby", "%s-title", id);
	html_open(h, "h2");
	html_attrf(h, "id", "%s-title", id);
	html_text(h, title);
	html_close(h);
}

int64_t piece_now(const json_t *d)
{
	return field_time(d, "now");
}

void piece_time(struct html *h, const json_t *object, const char *key)
{
	int64_t time = field_time(object, key);
	char *clock;

	if (time == FIELD_NONE)
		return;
	clock = print_clock(time);
	html_open(h, "time");
	html_attr(h, "datetime", field_text(object, key));
	html_text(h, clock);
	html_close(h);
	free(clock);
}

char *piece_took(const json_t *d, const json_t *attempt)
{
	int64_t started = field_time(attempt, "started_at"), ended = field_time(attempt, "ended_at");

	if (started == FIELD_NONE)
		return xstrdup("");
	return print_duration((ended == FIELD_NONE ? piece_now(d) : ended) - started);
}
