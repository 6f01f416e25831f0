/* SPDX-License-Identifier: MIT */
#include "client/watch_lines.h"

#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/cooldown_command.h"
#include "client/field.h"
#include "client/lines.h"
#include "client/live.h"
#include "client/message.h"
#include "client/print.h"
#include "client/screen.h"
#include "proto/call.h"
#include "proto/clock.h"
#include "proto/memory.h"

/* Each run has its own printer, because a line depends on earlier ones. */
struct watched_run {
	int64_t run;
	struct live *live;
};

struct watch_lines {
	struct client *client;
	int64_t run;		/* FIELD_NONE: all */
	struct watched_run *runs;
	size_t count;
};

/* Print the state before the first event. */
static void print_now(const struct watch_lines *w, const json_t *run, const json_t *attempts)
{
	const struct print *p = &w->client->out;
	char *why = cell_why(run, NULL);
	struct view view = { .run = run, .attempts = attempts, .now = clock_wall() };
	struct lines l;

	lines_init(&l, p->width, p->color);
	lines_addf(&l, PAINT_NONE, "Run %lld ", field_count(run, "id"));
	lines_add(&l, print_state_paint(field_text(run, "state")), field_text(run, "state"));
	lines_addf(&l, PAINT_NONE, "%s%s", *why != '\0' ? ": " : "", why);
	free(why);
	lines_end(&l);
	screen_slots(&l, &view);
	lines_print(&l, p->file);
	fflush(p->file);
	lines_release(&l);
}

/* The printer for a run seen for the first time. run: as in run.get, NULL: unknown. */
static struct live *watch_begin_run(struct watch_lines *w, int64_t id, const json_t *run)
{
	char *before = w->run == FIELD_NONE ? xasprintf("[%lld] ", (long long)id) : xstrdup("");

	w->runs = xreallocarray(w->runs, w->count + 1, sizeof(*w->runs));
	w->runs[w->count] = (struct watched_run){ id, live_new(&w->client->out, run, before) };
	free(before);
	return w->runs[w->count++].live;
}

static struct live *live_of(struct watch_lines *w, int64_t id)
{
	struct call_error error;
	struct live *live;
	json_t *run;

	for (size_t i = 0; i < w->count; i++)
		if (w->runs[i].run == id)
			return w->runs[i].live;
	run = call_method(w->client->conn, "run.get", json_pack("{s:I}", "id", (json_int_t)id), &error);
	live = watch_begin_run(w, id, run);
	json_decref(run);
	return live;
}

static void watch_end_run(struct watch_lines *w, int64_t id)
{
	for (size_t i = 0; i < w->count; i++) {
		if (w->runs[i].run == id) {
			live_free(w->runs[i].live);
			w->runs[i] = w->runs[--w->count];
			return;
		}
	}
}

static void print_cooldown(const struct print *p, const json_t *event)
{
	char *sentence = cooldown_sentence(event), *line = print_clip(sentence, p->width);

	print_painted(p, field_true(event, "in_force") ? PAINT_YELLOW : PAINT_NONE, line);
	fputc('\n', p->file);
	free(sentence);
	free(line);
}

/* Returns true if the run being watched has ended. */
static bool watch_tell(struct watch_lines *w, const json_t *event)
{
	int64_t id = field_int(event, "run");
	bool over = field_is(event, "type", "run.state") && exit_has_ended(field_text(event, "state"));

	if (w->client->json)
		print_json(&w->client->out, event);
	else if (id != FIELD_NONE)
		live_event(live_of(w, id), event);
	else if (field_is(event, "type", "cooldown"))
		print_cooldown(&w->client->out, event);
	if (over)
		watch_end_run(w, id);
	return over && w->run != FIELD_NONE;
}

static int watch_follow(struct watch_lines *w)
{
	json_t *message;

	for (;;) {
		int got = call_notification(w->client->conn, -1, &message);
		bool over = false;

		if (got == -1) {
			message_error("the daemon disappeared; its agents continue");
			return EXIT_NO_DAEMON;
		}
		if (got != 1)
			continue;
		if (field_is(message, "method", "event"))
			over = watch_tell(w, json_object_get(message, "params"));
		json_decref(message);
		if (fflush(w->client->out.file) == EOF)
			return EXIT_REFUSED;
		if (over)
			return EXIT_DONE;
	}
}

/* One run: its current state, then its events. */
static int watch_one(struct watch_lines *w)
{
	int status;
	json_t *run = client_get(w->client, "run.get", "id", w->run, &status), *attempts = NULL;
	bool over = exit_has_ended(field_text(run, "state"));

	if (run != NULL && !w->client->json)
		attempts = client_list_of_run(w->client, "attempt.list", "attempts", w->run, &status);
	if (attempts != NULL)
		print_now(w, run, field_array(attempts, "attempts"));
	json_decref(attempts);
	if (status == 0)
		watch_begin_run(w, w->run, run);
	json_decref(run);
	if (status != 0)
		return status;
	return over ? EXIT_DONE : watch_follow(w);
}

int watch_lines(struct client *c, int64_t run)
{
	struct watch_lines w = { .client = c, .run = run };
	json_t *params = json_object();
	int status;

	if (run != FIELD_NONE)
		json_object_set_new(params, "run", json_integer(run));
	json_decref(client_call(c, "event.subscribe", params, &status));
	if (status == 0)
		status = run != FIELD_NONE ? watch_one(&w) : watch_follow(&w);
	while (w.count > 0)
		watch_end_run(&w, w.runs[0].run);
	free(w.runs);
	return status;
}
