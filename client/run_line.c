/* SPDX-License-Identifier: MIT */
#include "client/run_line.h"

#include <string.h>

#include "client/block.h"
#include "client/cell.h"
#include "client/field.h"
#include "client/print.h"
#include "client/run_view.h"
#include "client/status_tag.h"
#include "client/task_summary.h"
#include "proto/clock.h"
#include "proto/escape.h"
#include "proto/memory.h"

#define LOAD_MS 1000
#define TURN_MS 3000	/* how long one of several slots is shown */
#define WORDS_LEAST 10	/* columns below which an agent's words are left out */
#define PHASES_MAX 4	/* kinds of phases that are counted on the line */

static bool is_working(const json_t *slot)
{
	return !view_is_over(slot) && field_int(slot, "attempt") != FIELD_NONE && !field_is(slot, "phase", "waiting") &&
	    !field_is(slot, "phase", "held") && !field_is(slot, "phase", "cooling");
}

/* Slot number n, from 0, of those that work. *count: how many there are. */
static const json_t *working_slot(const json_t *run, size_t n, size_t *count)
{
	const json_t *slots = field_array(run, "slots"), *found = NULL;

	*count = 0;
	for (size_t i = 0; i < json_array_size(slots); i++) {
		const json_t *slot = json_array_get(slots, i);

		if (is_working(slot) && (*count)++ == n)
			found = slot;
	}
	return found;
}

/* Those that work take turns. NULL: none works. */
static const json_t *shown_slot(const json_t *run, int64_t now)
{
	size_t count;

	working_slot(run, 0, &count);
	return count == 0 ? NULL : working_slot(run, (size_t)(now / TURN_MS) % count, &count);
}

static void replace(json_t **at, json_t *value)
{
	json_decref(*at);
	*at = value;
}

void run_line_load(struct run_line *p, struct call_conn *conn)
{
	struct call_error error;
	json_t *document = NULL;
	int64_t attempt;

	if (p->loaded != 0 && clock_steady() < p->loaded + LOAD_MS)
		return;
	if (p->document == NULL || p->stale)
		document = call_method(conn, "run.get", json_pack("{s:I}", "id", (json_int_t)p->run), &error);
	if (document != NULL) {
		replace(&p->document, document);
		p->stale = false;
	}
	attempt = field_int(shown_slot(p->document, clock_wall()), "attempt");
	replace(&p->preview, attempt == FIELD_NONE ? NULL :
	    call_method(conn, "attempt.preview", json_pack("{s:I, s:i}", "id", (json_int_t)attempt, "lines", 1),
	        &error));
	p->loaded = clock_steady();
}

int run_line_due_ms(const struct run_line *p)
{
	int64_t left = p->loaded == 0 ? 0 : p->loaded + LOAD_MS - clock_steady();

	return left < 0 ? 0 : (int)left;
}

void run_line_release(struct run_line *p)
{
	replace(&p->document, NULL);
	replace(&p->preview, NULL);
}

/* ---- the line ---- */

/* "reviewing 2/6"; round 0 is no review. */
static char *phase_text(const json_t *slot)
{
	int64_t round = field_int(slot, "round"), fixes = field_int(slot, "fixes");

	return round > 0 && fixes != FIELD_NONE
	    ? xasprintf("%s %lld/%lld", field_text(slot, "phase"), (long long)round, (long long)fixes + 1)
	    : xstrdup(field_text(slot, "phase"));
}

/* "2 implementing, 1 reviewing" */
static char *phase_counts(const json_t *run)
{
	const json_t *slots = field_array(run, "slots");
	const char *names[PHASES_MAX];
	size_t counts[PHASES_MAX], used = 0;
	struct buf text = { 0 };

	for (size_t i = 0; i < json_array_size(slots); i++) {
		const json_t *slot = json_array_get(slots, i);
		size_t at = 0;

		if (view_is_over(slot))
			continue;
		while (at < used && strcmp(names[at], field_text(slot, "phase")) != 0)
			at++;
		if (at == used && used < PHASES_MAX) {
			names[used] = field_text(slot, "phase");
			counts[used++] = 0;
		}
		if (at < used)
			counts[at]++;
	}
	for (size_t i = 0; i < used; i++)
		buf_addf(&text, "%s%zu %s", i > 0 ? ", " : "", counts[i], names[i]);
	return buf_take(&text, NULL);
}

/* Slots that are not over. */
static size_t open_slots(const json_t *run, const json_t **last)
{
	const json_t *slots = field_array(run, "slots");
	size_t count = 0;

	*last = NULL;
	for (size_t i = 0; i < json_array_size(slots); i++) {
		if (view_is_over(json_array_get(slots, i)))
			continue;
		*last = json_array_get(slots, i);
		count++;
	}
	return count;
}

/* What the run is at: of its only slot, or counted. */
static char *head_text(const json_t *run)
{
	const json_t *slot;
	size_t count = open_slots(run, &slot);
	const char *state = field_text(run, "state");

	if (count == 0 || strcmp(state, "running") != 0)
		return xstrdup(state);
	return count == 1 ? phase_text(slot) : phase_counts(run);
}

/* The newest words of the agent, or why nothing works. */
static char *words_text(const json_t *run, const json_t *preview, int64_t now)
{
	const json_t *slot = shown_slot(run, now), *lines = field_array(preview, "lines"), *waiting;
	const char *words = json_string_value(json_array_get(lines, json_array_size(lines) - 1));
	char *name, *text;

	if (slot == NULL) {
		open_slots(run, &waiting);
		return xstrdup(*field_text(waiting, "reason") != '\0' ? field_text(waiting, "reason") :
		    field_text(run, "reason"));
	}
	if (words == NULL)
		return xstrdup("");
	if (json_array_size(field_array(run, "slots")) < 2)
		return xstrdup(words);
	name = status_tag_name(field_int(slot, "slot"));
	text = xasprintf("%s %s", name, words);
	free(name);
	return text;
}

/* Takes ownership of text. */
static void add_part(struct buf *to, const char *before, char *text, const char *after)
{
	if (*text != '\0')
		buf_addf(to, "%s%s%s", before, text, after);
	free(text);
}

/* Behind the words. */
static char *spent_text(const json_t *run)
{
	const json_t *totals = json_object_get(run, "totals");
	struct buf text = { 0 };

	add_part(&text, "  ", cell_tokens(totals, NULL), " tokens");
	add_part(&text, "  ", cell_cost(totals, "cost_usd"), "");
	return buf_take(&text, NULL);
}

/* In front of them, behind the phase. */
static char *time_text(const json_t *run, int64_t now)
{
	int64_t since = field_time(run, "started_at");
	struct buf text = { 0 };

	if (since == FIELD_NONE)
		since = field_time(run, "created_at");
	if (since != FIELD_NONE)
		add_part(&text, "  ", block_duration(now - since), "");
	if (tasks_are_many(run))
		add_part(&text, "  ", tasks_passed(run), "");
	return buf_take(&text, NULL);
}

void run_line_put(struct lines *l, const json_t *run, const json_t *preview, int64_t now)
{
	char *head, *time, *words, *spent;
	size_t left;

	if (run == NULL)
		return;
	head = head_text(run);
	time = time_text(run, now);
	words = words_text(run, preview, now);
	spent = spent_text(run);
	lines_add(l, print_state_paint("running"), head);
	lines_add(l, PAINT_NONE, time);
	/* as many columns of the words as leave room for what was spent */
	left = lines_left(l);
	if (left < text_width(spent))
		*spent = '\0';
	left -= text_width(spent);
	if (*words != '\0' && left >= WORDS_LEAST + 2) {
		char *cut = print_clip(words, left - 2);

		lines_add(l, PAINT_NONE, "  ");
		lines_add(l, PAINT_DIM, cut);
		free(cut);
	}
	lines_add(l, PAINT_NONE, spent);
	lines_end(l);
	free(head);
	free(time);
	free(words);
	free(spent);
}
