/* SPDX-License-Identifier: MIT */
/* rlctl events: past events, and new ones. */
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/command_options.h"
#include "client/commands.h"
#include "client/cooldown_command.h"
#include "client/field.h"
#include "client/message.h"
#include "client/reconnect.h"
#include "proto/call.h"
#include "proto/memory.h"

/* Members with a fixed place on the line. */
#define EVENT_HEAD "seq|time|type|run"
#define PAGE 256
/* An amount written with a few digits is read back with these. */
#define REAL_DIGITS 12

/* "12  2026-11-21 22:05:57  slot.phase  run 3  phase=reviewing round=1" */
static void print_event(const struct print *p, const json_t *event)
{
	char *clock = print_clock(field_time(event, "time"));
	struct buf line = { 0 };
	char *shown;

	fprintf(p->file, "%6lld  %s  ", field_count(event, "seq"), clock);
	print_paintedf(p, PAINT_BOLD, "%-17s", field_text(event, "type"));
	if (field_int(event, "run") != FIELD_NONE) {
		buf_addf(&line, " run %lld ", field_count(event, "run"));
	}
	if (field_is(event, "type", "cooldown")) {
		char *sentence = cooldown_sentence(event);

		buf_addf(&line, " %s", sentence);
		free(sentence);
		event = NULL;
	}
	for (void *i = json_object_iter((json_t *)event); i != NULL; i = json_object_iter_next((json_t *)event, i)) {
		const char *key = json_object_iter_key(i);
		const json_t *value = json_object_iter_value(i);
		char *text;

		if (options_is_choice(EVENT_HEAD, key) || json_is_null(value))
			continue;
		text = json_is_string(value)
		    ? xstrdup(json_string_value(value))
		    : json_dumps(
		          value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(REAL_DIGITS));
		buf_addf(&line, " %s=%s", key, text);
		free(text);
	}
	/* The head takes 6 + 2 + 19 + 2 + 17 columns. */
	shown = print_clip(line.data == NULL ? "" : line.data, p->width > 60 ? p->width - 46 : 0);
	fprintf(p->file, "%s\n", shown);
	free(shown);
	buf_release(&line);
	free(clock);
}

static void events_tell(struct client *c, const json_t *event)
{
	if (c->json)
		print_json(&c->out, event);
	else
		print_event(&c->out, event);
}

/* Print recorded events page by page. */
static int events_list(struct client *c, int64_t run, int64_t since)
{
	for (;;) {
		const json_t *events;
		json_t *result;
		int status;
		size_t n;

		result = client_call(c, "event.list",
		    json_pack("{s:I, s:i}", "since", (json_int_t)since, "limit", PAGE), &status);
		if (result == NULL)
			return status;
		events = field_array(result, "events");
		n = json_array_size(events);
		for (size_t i = 0; i < n; i++) {
			const json_t *event = json_array_get(events, i);

			since = field_int(event, "seq");
			if (run == FIELD_NONE || field_int(event, "run") == run)
				events_tell(c, event);
		}
		json_decref(result);
		if (n == 0)
			return EXIT_DONE;
	}
}

/* since: number of the last event that is known. */
static int events_follow(struct client *c, int64_t run, int64_t since)
{
	json_t *message;
	int returns = 0;

	for (;;) {
		int got = call_notification(c->conn, -1, &message);
		const json_t *params;

		if (got == -1 && !reconnect_told(c, run, since, &returns)) {
			message_error("the daemon did not return; \"rlctl events -f --since %lld\" continues",
			    (long long)since);
			return EXIT_NO_DAEMON;
		}
		if (got != 1)
			continue;
		params = json_object_get(message, "params");
		if (field_is(message, "method", "event")) {
			events_tell(c, params);
			since = field_int(params, "seq");
			returns = 0;
		} else if (field_is(message, "method", "gap"))
			message_note("events %lld to %lld are no longer kept", field_count(params, "from"),
			    field_count(params, "to"));
		json_decref(message);
		if (fflush(c->out.file) == EOF)
			return EXIT_REFUSED;
	}
}

int events_command(struct client *c)
{
	const json_t *since = json_object_get(c->options.values, "since");
	const char *of = options_text(&c->options, "run");
	int64_t run = FIELD_NONE, last;
	json_t *result = NULL;
	int status;

	if (of != NULL && client_parse_run(of, &run, NULL) != 0)
		return EXIT_USAGE;
	if (!options_given(&c->options, "follow"))
		return events_list(c, run, json_integer_value(since));
	status = client_connect(c);
	if (status == 0) {
		json_t *params = json_object();

		if (since != NULL)
			json_object_set(params, "since", (json_t *)since);
		if (run != FIELD_NONE)
			json_object_set_new(params, "run", json_integer(run));
		result = client_call(c, "event.subscribe", params, &status);
	}
	last = since != NULL ? json_integer_value(since) : field_int(result, "seq");
	json_decref(result);
	return status != 0 ? status : events_follow(c, run, last);
}
