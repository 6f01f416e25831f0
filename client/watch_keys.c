/* SPDX-License-Identifier: MIT */
/* The keys of rlctl watch: one row each, from which the help is made as well. */
#include <stdlib.h>
#include <string.h>

#include "client/exit.h"
#include "client/field.h"
#include "client/hold_choice.h"
#include "client/watch.h"
#include "proto/escape.h"

enum { IN_LIST = 1, IN_RUN = 2, IN_PAGE = 4, IN_ALL = 7 };

#define BYTES_SHOWN 4		/* in each column: the rest of a long text is not drawn */
#define TYPED_MAX (256 * 1024 + 1)	/* more than hold.rework takes, which refuses it */

struct watch_key {
	char key;
	int places;
	const char *name, *help;
	/* whether it can be of use to a run, and to its hold; NULL: always */
	bool (*applies)(const json_t *run, const json_t *hold);
	enum watch_end (*act)(struct watch *w);	/* NULL: it calls method */
	const char *method;
	bool of_hold;				/* ... about the hold: its name is a choice */
	const char *question, *also;		/* asked before and behind its object; NULL: no */
	const char *prompt;			/* what to type; NULL: nothing */
};

/* ---- when they apply ---- */

static bool is_run(const json_t *run, const json_t *hold)
{
	(void)hold;
	return run != NULL;
}

static bool is_unfinished(const json_t *run, const json_t *hold)
{
	(void)hold;
	return run != NULL && !exit_has_ended(field_text(run, "state"));
}

static bool is_paused(const json_t *run, const json_t *hold)
{
	return is_unfinished(run, hold) && (field_is(run, "state", "paused") || field_true(run, "paused"));
}

static bool is_unpaused(const json_t *run, const json_t *hold)
{
	return is_unfinished(run, hold) && !is_paused(run, hold) && !field_is(run, "state", "held");
}

static bool can_retry(const json_t *run, const json_t *hold)
{
	return field_is(run, "state", "failed") || field_is(run, "state", "cancelled") ||
	    (hold != NULL && field_is(run, "state", "held"));
}

/* ---- what they do ---- */

static enum watch_end act_quit(struct watch *w)
{
	if (w->pager == NULL)
		return END_QUIT;
	watch_close_page(w);
	return GO_ON;
}

static enum watch_end act_back(struct watch *w)
{
	return watch_look_at(w, FIELD_NONE);
}

static enum watch_end act_turn(struct watch *w)
{
	screen_turn(&w->choice);
	return GO_ON;
}

/* Of a run its tasks are filtered, because those may be many. */
static enum watch_end act_filter(struct watch *w)
{
	enum watch_end end = w->pager == NULL && w->data.run != FIELD_NONE ? watch_open_tasks(w) : GO_ON;

	if (end == GO_ON && (w->pager != NULL || w->data.run == FIELD_NONE)) {
		w->asking = ASK_FILTER;
		text_set(&w->question, "Show only what has: ");
	}
	return end;
}

static enum watch_end act_help(struct watch *w);

static const struct watch_key keys[] = {
	{ 'q', IN_ALL, "quit", "leave; from a page back to the run", NULL, .act = act_quit },
	{ '?', IN_LIST | IN_RUN, "help", "this page", NULL, .act = act_help },
	{ 'a', IN_LIST | IN_RUN, "approve", "approve the open hold", NULL, .method = "hold.approve",
	    .of_hold = true, .question = "Approve" },
	{ 'x', IN_LIST | IN_RUN, "reject", "reject the open hold", NULL, .method = "hold.reject",
	    .of_hold = true, .question = "Reject" },
	{ 'w', IN_LIST | IN_RUN, "rework", "send held work back with instructions, which you type", NULL,
	    .method = "hold.rework", .of_hold = true, .prompt = "Instructions for" },
	{ 'i', IN_LIST | IN_RUN, "answer", "answer what an agent asks", NULL, .method = "hold.answer",
	    .of_hold = true, .prompt = "Answer to" },
	{ 'l', IN_LIST | IN_RUN, "logs", "the newest attempt of the chosen slot, as a conversation", is_run,
	    .act = watch_open_logs },
	{ 'd', IN_LIST | IN_RUN, "diff", "the changes of the run", is_run, .act = watch_open_diff },
	{ 't', IN_RUN, "tasks", "all tasks with their states", is_run, .act = watch_open_tasks },
	{ 'r', IN_RUN, "review", "the last review of the chosen slot, or its output", is_run, .act = act_turn },
	{ 'b', IN_RUN, "runs", "all unfinished runs; also left and backspace", NULL, .act = act_back },
	{ 'c', IN_LIST | IN_RUN, "cancel", "cancel the run and end its agents", is_unfinished, .method = "run.cancel",
	    .question = "Cancel", .also = " and end its agents" },
	{ 'p', IN_LIST | IN_RUN, "pause", "finish running attempts, start no new ones", is_unpaused,
	    .method = "run.pause" },
	{ 'u', IN_LIST | IN_RUN, "resume", "continue the paused run", is_paused, .method = "run.resume" },
	{ 'R', IN_LIST | IN_RUN, "retry", "continue what did not pass, as a new run", can_retry,
	    .method = "run.retry", .question = "Start a new run that continues" },
	{ '/', IN_ALL, "filter", "show only what has a word; of a run its tasks", NULL, .act = act_filter },
};

/* Keys that are no letters. */
static const char others[] =
    "  Up, Down     choose a slot or a run, or scroll a page\n"
    "  1-9          choose the slot of this number\n"
    "  Enter        show the chosen run\n"
    "  Page Up, Page Down, space, g, G\n"
    "               scroll a page; to its beginning, to its end\n"
    "  Escape       leave a question or a filter\n"
    "  Ctrl-C       leave; runs and agents continue\n";

static enum watch_end act_help(struct watch *w)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		buf_addf(&text, "  %c  %-9s %s%s\n", keys[i].key, keys[i].name, keys[i].help,
		    keys[i].question != NULL ? "; asks before" : "");
	buf_addf(&text, "\n%s", others);
	watch_open_text(w, "Keys", text.data);
	buf_release(&text);
	return GO_ON;
}

/* ---- questions ---- */

static void stop_asking(struct watch *w)
{
	w->asking = ASK_NOTHING;
	w->key = NULL;
	text_set(&w->question, NULL);
	buf_release(&w->typed);
}

/* "hold 3, task t1: reason" or "run 12". malloc'd. */
static char *subject_of(const struct watch_key *row, const json_t *run, const json_t *hold)
{
	const char *task = field_text(hold, "task"), *reason = field_text(hold, "reason");

	if (!row->of_hold)
		return xasprintf("run %lld", field_count(run, "id"));
	return xasprintf("hold %lld%s%s%s%s", field_count(hold, "id"), *task != '\0' ? ", task " : "", task,
	    *reason != '\0' ? ": " : "", reason);
}

/* The answer of the daemon as a line. Takes ownership of result. */
static void tell_result(struct watch *w, const struct watch_key *row, json_t *result)
{
	long long id = field_count(result, "id");
	const char *state = field_text(result, "state");

	if (strcmp(row->method, "run.retry") == 0)
		watch_notice(w, PAINT_GREEN, xasprintf("Run %lld continues run %lld", id, (long long)w->subject));
	else if (strcmp(row->method, "hold.answer") == 0)
		watch_notice(w, PAINT_GREEN, xasprintf("Hold %lld: answered", (long long)w->subject));
	else
		watch_notice(w, print_state_paint(state), xasprintf("%s %lld: %s%s", row->of_hold ? "Hold" : "Run",
		    (long long)w->subject, state,
		    field_true(result, "paused") && strcmp(state, "paused") != 0 ? ", paused" : ""));
	json_decref(result);
}

static enum watch_end call_row(struct watch *w, const struct watch_key *row, const char *message)
{
	json_t *params = json_pack("{s:I}", "id", (json_int_t)w->subject), *result;
	struct call_error error;

	if (message != NULL && message[strspn(message, " ")] != '\0' &&
	    json_object_set_new(params, "message", json_string(message)) == -1) {
		watch_notice(w, PAINT_RED, xstrdup("this is not UTF-8"));
		buf_add(&w->unsent, w->typed.data, w->typed.size);
		json_decref(params);
		return GO_ON;
	}
	result = call_method(w->data.conn, row->method, params, &error);
	if (result == NULL) {
		if (message != NULL)
			buf_add(&w->unsent, w->typed.data, w->typed.size);
		return watch_refused(w, &error);
	}
	tell_result(w, row, result);
	w->data.stale = true;
	w->loaded = 0;
	return GO_ON;
}

static bool key_applies(const struct watch_key *row, const json_t *run, const json_t *hold)
{
	if (row->of_hold)
		return run != NULL && hold != NULL && choice_applies(choice_find(row->name), hold);
	return row->applies == NULL || row->applies(run, hold);
}

/* Why it does not apply. malloc'd. */
static char *not_now(const struct watch_key *row, const json_t *run, const json_t *hold)
{
	if (run == NULL)
		return xstrdup("there is no run");
	if (row->of_hold && hold != NULL)
		return xasprintf("%s: not now, run %lld has nothing to %s", row->name,
		    field_count(run, "id"), row->name);
	return xasprintf("%s: not now, run %lld %s%s", row->name, field_count(run, "id"),
	    row->of_hold ? "has no open hold" : "is ",
	    row->of_hold ? "" : is_paused(run, hold) ? "paused" : field_text(run, "state"));
}

static enum watch_end begin(struct watch *w, const struct watch_key *row)
{
	const json_t *run = watch_run(w), *hold = watch_hold(w);
	char *subject;

	if (!key_applies(row, run, hold)) {
		watch_notice(w, PAINT_YELLOW, not_now(row, run, hold));
		return GO_ON;
	}
	if (row->act != NULL)
		return row->act(w);
	w->subject = field_int(row->of_hold ? hold : run, "id");
	if (row->question == NULL && row->prompt == NULL)
		return call_row(w, row, NULL);
	w->key = row;
	w->asking = row->prompt != NULL ? ASK_TEXT : ASK_YES;
	if (row->prompt != NULL) {
		w->typed = w->unsent;
		w->unsent = (struct buf){ 0 };
	}
	w->may_be_empty = row->of_hold && !choice_needs_text(choice_find(row->name), hold);
	subject = subject_of(row, run, hold);
	free(w->question);
	w->question = row->prompt != NULL ? xasprintf("%s hold %lld: ", row->prompt, (long long)w->subject) :
	    xasprintf("%s %s%s?", row->question, subject, row->also != NULL ? row->also : "");
	free(subject);
	return GO_ON;
}

static enum watch_end take_typed(struct watch *w)
{
	const struct watch_key *row = w->key;
	const char *text = w->typed.data != NULL ? w->typed.data : "";
	enum watch_end end = GO_ON;

	if (w->asking == ASK_FILTER && w->pager != NULL)
		pager_filter(w->pager, *text != '\0' ? text : NULL);
	else if (w->asking == ASK_FILTER)
		text_set(&w->filter, *text != '\0' ? text : NULL);
	else if (!w->may_be_empty && text[strspn(text, " ")] == '\0')
		watch_notice(w, PAINT_YELLOW, xstrdup("nothing was typed, nothing was sent"));
	else
		end = call_row(w, row, text);
	stop_asking(w);
	return end;
}

/* The last character, of one to four bytes. */
static void rub_out(struct buf *typed)
{
	while (typed->size > 0 && ((unsigned char)typed->data[typed->size - 1] & 0xc0) == 0x80)
		typed->size--;
	typed->size -= typed->size > 0;
	if (typed->data != NULL)
		typed->data[typed->size] = '\0';
}

static enum watch_end take_text(struct watch *w, enum key key, char c)
{
	if (key == KEY_ENTER)
		return take_typed(w);
	if (key == KEY_ESCAPE || key == KEY_END)
		stop_asking(w);
	else if (key == KEY_BACKSPACE)
		rub_out(&w->typed);
	else if ((key == KEY_TEXT || key == KEY_PASTED) && w->typed.size < TYPED_MAX)
		buf_add(&w->typed, &c, 1);
	return GO_ON;
}

static enum watch_end take_yes(struct watch *w, enum key key, char c)
{
	const struct watch_key *row = w->key;

	stop_asking(w);
	if (key == KEY_TEXT && (c == 'y' || c == 'Y'))
		return call_row(w, row, NULL);
	watch_notice(w, PAINT_DIM, xstrdup("nothing was done"));
	return GO_ON;
}

static int place_of(const struct watch *w)
{
	return w->pager != NULL ? IN_PAGE : w->data.run == FIELD_NONE ? IN_LIST : IN_RUN;
}

enum watch_end watch_take_key(struct watch *w, enum key key, char c)
{
	if (w->asking == ASK_YES)
		return take_yes(w, key, c);
	if (w->asking != ASK_NOTHING)
		return take_text(w, key, c);
	for (size_t i = 0; key == KEY_TEXT && i < ARRAY_SIZE(keys); i++)
		if (keys[i].key == c && keys[i].places & place_of(w))
			return begin(w, &keys[i]);
	return GO_ON;
}

/* ---- the last line ---- */

char *watch_keys_line(const struct watch *w, size_t columns)
{
	const json_t *run = watch_run(w), *hold = watch_hold(w);
	struct buf text = { 0 };

	buf_adds(&text, "");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t more = strlen(keys[i].name) + 2 + (text.size > 0 ? 2 : 0);

		if (!(keys[i].places & place_of(w)) || text.size + more > columns ||
		    !key_applies(&keys[i], run, hold))
			continue;
		buf_addf(&text, "%s%c %s", text.size > 0 ? "  " : "", keys[i].key, keys[i].name);
	}
	return buf_take(&text, NULL);
}

/* Of a text longer than the line its end is shown. */
static const char *end_of(const char *text, size_t columns)
{
	while (text_width(text) > columns)
		do
			text++;
		while (((unsigned char)*text & 0xc0) == 0x80);
	return text;
}

/* At most so many bytes of what was typed, made visible. malloc'd. */
static char *typed_end(const struct buf *typed, size_t most)
{
	size_t from = typed->size > most ? typed->size - most : 0;

	while (from < typed->size && ((unsigned char)typed->data[from] & 0xc0) == 0x80)
		from++;
	return text_escape(typed->data != NULL ? typed->data + from : "", typed->size - from, false);
}

bool watch_draw_last(const struct watch *w, struct lines *l)
{
	static const char choice[] = " (y/n)";
	char *text;

	if (w->asking == ASK_NOTHING && w->notice == NULL)
		return false;
	if (w->asking == ASK_NOTHING) {
		lines_add(l, w->notice_paint, w->notice);
	} else if (w->asking == ASK_YES) {
		/* the choice is there whatever the reason of a hold is */
		text = print_clip(w->question, lines_left(l) > strlen(choice) ? lines_left(l) - strlen(choice) : 1);
		lines_add(l, PAINT_BOLD, text);
		lines_add(l, PAINT_BOLD, choice);
		free(text);
	} else {
		text = typed_end(&w->typed, l->width * BYTES_SHOWN);
		lines_add(l, PAINT_BOLD, w->question);
		if (lines_left(l) > 1)
			lines_addf(l, PAINT_NONE, "%s_", end_of(text, lines_left(l) - 1));
		free(text);
	}
	lines_end(l);
	return true;
}
