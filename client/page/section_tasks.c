/* SPDX-License-Identifier: MIT */
/* The table of tasks; known issues and warnings. */
#include <stdbool.h>
#include <stdlib.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/page/pieces.h"
#include "client/page/sections.h"
#include "client/task_summary.h"
#include "proto/memory.h"

static void tasks_row(struct html *h, const json_t *task, size_t index, bool priced)
{
	html_open(h, "tr");
	html_open(h, "th");
	html_attr(h, "scope", "row");
	if (field_count(task, "attempts") > 0 && index < PIECE_ROUNDS_MAX) {
		html_open(h, "a");
		html_attrf(h, "href", "#task-%zu", index + 1);
		piece_clip(h, field_text(task, "id"), 40);
		html_close(h);
	} else {
		piece_clip(h, field_text(task, "id"), 40);
	}
	html_close(h);
	html_open(h, "td");
	piece_task_state(h, task);
	html_close(h);
	html_open_class(h, "td", "wide");
	html_attr(h, "dir", "auto");
	piece_clip(h, field_text(task, "title"), 120);
	html_close(h);
	piece_cell(h, "num", cell_some(task, "rounds"));
	piece_cell(h, "num", cell_some(task, "attempts"));
	piece_cell(h, "num", field_count(task, "attempts") > 0 ? cell_duration(task, "wall_ms") : xstrdup(""));
	if (priced)
		piece_cell(h, "num", cell_cost(task, "cost_usd"));
	html_open_class(h, "td", "wide");
	html_attr(h, "dir", "auto");
	piece_clip(h, field_text(task, "reason"), 200);
	html_close(h);
	html_open(h, "td");
	html_leaf(h, "code", NULL, field_text(task, "branch"));
	html_close(h);
	html_close(h);
}

void section_tasks(struct html *h, const json_t *d)
{
	static const struct piece_column columns[][10] = { { { "Task", NULL }, { "State", NULL }, { "Title", NULL },
		{ "Reviews", "num" }, { "Attempts", "num" }, { "Took", "num" }, { "Why", NULL }, { "Branch", NULL },
		{ NULL, NULL } }, { { "Task", NULL }, { "State", NULL }, { "Title", NULL }, { "Reviews", "num" },
		{ "Attempts", "num" }, { "Took", "num" }, { "Cost", "num" }, { "Why", NULL }, { "Branch", NULL },
		{ NULL, NULL } } };
	const json_t *run = json_object_get(d, "run"), *tasks = field_array(run, "tasks");
	bool priced = json_is_number(json_object_get(json_object_get(run, "overview"), "cost_usd"));
	size_t all = json_array_size(tasks), shown = all < PIECE_TASKS_MAX ? all : PIECE_TASKS_MAX;
	char *more = xasprintf("rlctl show %lld", field_count(run, "id")), *count;

	if (tasks_are_many(run)) {
		count = piece_tasks(run);
		piece_section(h, "tasks", "Tasks");
		piece_table(h, count, columns[priced]);
		for (size_t i = 0; i < shown; i++)
			tasks_row(h, json_array_get(tasks, i), i, priced);
		piece_table_end(h);
		piece_left_out(h, shown, all, "tasks", more);
		html_close(h);
		free(count);
	}
	free(more);
}

static void tasks_texts(struct html *h, const json_t *d, const char *id, const char *title, const char *key)
{
	const json_t *run = json_object_get(d, "run"), *texts = field_array(run, key);
	size_t all = json_array_size(texts), shown = all < PIECE_ROWS_MAX ? all : PIECE_ROWS_MAX;
	char *more = xasprintf("rlctl show %lld", field_count(run, "id"));

	if (all > 0) {
		piece_section(h, id, title);
		html_open_class(h, "ul", "issues");
		for (size_t i = 0; i < shown; i++) {
			const char *text = json_string_value(json_array_get(texts, i));

			html_open(h, "li");
			piece_prose(h, text == NULL ? "" : text, more);
			html_close(h);
		}
		html_close(h);
		piece_left_out(h, shown, all, "lines", more);
		html_close(h);
	}
	free(more);
}

void section_known_issues(struct html *h, const json_t *d)
{
	tasks_texts(h, d, "issues", "Known issues", "known_issues");
}

void section_warnings(struct html *h, const json_t *d)
{
	tasks_texts(h, d, "warnings", "Warnings", "warnings");
}
