/* SPDX-License-Identifier: MIT */
/* Pages of rlctl watch: logs, a diff, the tasks of a run. */
#include <stdlib.h>
#include <string.h>

#include "client/attempt_output.h"
#include "client/cell.h"
#include "client/diff_paint.h"
#include "client/field.h"
#include "client/run_view.h"
#include "client/watch.h"

#define PAGES_AT_ONCE 4		/* requests before keys are looked at again */
#define DIFF_MAX (16 * 1024 * 1024)

void watch_close_page(struct watch *w)
{
	pager_free(w->pager);
	w->pager = NULL;
	w->attempt = FIELD_NONE;
	w->more = w->ended = false;
	transcript_release(&w->transcript);
	w->transcript = (struct transcript){ 0 };
}

/* Takes ownership of title. */
static void open_page(struct watch *w, char *title, enum paint (*paint_of)(const char *line), bool at_end)
{
	watch_close_page(w);
	w->pager = pager_new(title, paint_of, at_end);
	free(title);
}

void watch_open_text(struct watch *w, const char *title, const char *text)
{
	open_page(w, xstrdup(title), NULL, false);
	pager_add(w->pager, text, strlen(text));
}

/* ---- logs ---- */

static enum paint talk_paint(const char *line)
{
	return strncmp(line, "> ", 2) == 0 ? PAINT_CYAN : strncmp(line, "  | ", 4) == 0 ? PAINT_RED : PAINT_NONE;
}

/* The attempt of the chosen slot, or else the newest of the run. *attempt: new; NULL: none. */
static enum watch_end find_attempt(struct watch *w, const json_t *run, json_t **attempt)
{
	const json_t *slots = field_array(run, "slots"), *slot, *attempts;
	size_t index = w->data.run == FIELD_NONE ? 0 : w->choice.slot;
	struct call_error error;
	json_t *all;
	int64_t id;

	*attempt = NULL;
	slot = json_array_get(slots, index);
	id = field_int(slot, "attempt");
	if (id != FIELD_NONE) {
		*attempt = call_method(w->data.conn, "attempt.get", json_pack("{s:I}", "id", (json_int_t)id), &error);
		return *attempt == NULL ? watch_refused(w, &error) : GO_ON;
	}
	all = call_pages(w->data.conn, "attempt.list", "attempts",
	    json_pack("{s:I}", "run", (json_int_t)field_int(run, "id")), &error);
	attempts = field_array(all, "attempts");
	if (json_array_size(attempts) > 0)
		*attempt = json_incref(json_array_get(attempts, json_array_size(attempts) - 1));
	json_decref(all);
	return all == NULL ? watch_refused(w, &error) : GO_ON;
}

/* One page of the conversation goes to the pager. */
static enum watch_end read_page(struct watch *w)
{
	struct call_error error;
	struct print print = { 0 };
	char *text = NULL;
	size_t size = 0;
	int64_t before = w->transcript.next;
	json_t *page = call_method(w->data.conn, "attempt.transcript",
	    json_pack("{s:I, s:I}", "id", (json_int_t)w->attempt, "offset", (json_int_t)before), &error);

	w->more = false;
	if (page == NULL)
		return watch_refused(w, &error);
	print.file = open_memstream(&text, &size);
	if (print.file != NULL) {
		transcript_print(&w->transcript, &print, page);
		fclose(print.file);
		pager_add(w->pager, text, size);
		w->ended = field_true(page, "eof");
		w->more = !w->ended && w->transcript.next > before;
	}
	free(text);
	json_decref(page);
	return GO_ON;
}

enum watch_end watch_read_logs(struct watch *w)
{
	enum watch_end end = GO_ON;

	if (w->pager == NULL || w->attempt == FIELD_NONE)
		return GO_ON;
	for (int i = 0; end == GO_ON && (i == 0 || (i < PAGES_AT_ONCE && w->more)); i++)
		end = read_page(w);
	return end;
}

enum watch_end watch_open_logs(struct watch *w)
{
	const json_t *run = watch_run(w);
	json_t *attempt;
	enum watch_end end = find_attempt(w, run, &attempt);

	if (attempt == NULL) {
		if (end == GO_ON && w->notice == NULL)
			watch_notice(w, PAINT_YELLOW, xstrdup("there is no attempt yet"));
		return end;
	}
	open_page(w, xasprintf("Attempt %lld/%lld: %s, %s", field_count(attempt, "run"), field_count(attempt, "number"),
	    field_text(attempt, "role"), field_text(attempt, "agent")), talk_paint, true);
	w->attempt = field_int(attempt, "id");
	json_decref(attempt);
	return watch_read_logs(w);
}

/* ---- diff ---- */

enum watch_end watch_open_diff(struct watch *w)
{
	int64_t run = field_int(watch_run(w), "id"), offset = 0;
	struct call_error error;
	struct buf text = { 0 };
	bool more = true;

	while (more && text.size < DIFF_MAX) {
		json_t *page = call_method(w->data.conn, "run.diff",
		    json_pack("{s:I, s:I}", "id", (json_int_t)run, "offset", (json_int_t)offset), &error);
		int64_t next = field_int(page, "next");

		if (page == NULL) {
			buf_release(&text);
			return watch_refused(w, &error);
		}
		output_add(&text, page, "diff");
		more = !field_true(page, "eof") && next != FIELD_NONE && next > offset;
		offset = next;
		json_decref(page);
	}
	open_page(w, xasprintf("Changes of run %lld", (long long)run), diff_paint, false);
	pager_add(w->pager, text.size > 0 ? text.data : "No changes.\n", text.size > 0 ? text.size : 12);
	if (more)
		pager_add(w->pager, "\n... the rest is left out\n", 26);
	buf_release(&text);
	return GO_ON;
}

/* ---- tasks ---- */

static enum paint task_paint(const char *line)
{
	char *state = xmemdup0(line, strcspn(line, " "));
	enum paint paint = print_state_paint(state);

	free(state);
	return paint;
}

enum watch_end watch_open_tasks(struct watch *w)
{
	const json_t *tasks = field_array(watch_run(w), "tasks");

	open_page(w, xasprintf("Tasks of run %lld", field_count(watch_run(w), "id")), task_paint, false);
	for (size_t i = 0; i < json_array_size(tasks); i++) {
		const json_t *task = json_array_get(tasks, i);
		char *cost = cell_cost(task, "cost_usd"), *why = cell_line(task, "reason"), *line;

		line = xasprintf("%-11s %s  %s%s%s%s%s\n", field_text(task, "state"), field_text(task, "id"),
		    field_text(task, "title"), *cost != '\0' ? "  " : "", cost, *why != '\0' ? "  " : "", why);
		pager_add(w->pager, line, strlen(line));
		free(line);
		free(cost);
		free(why);
	}
	return GO_ON;
}
