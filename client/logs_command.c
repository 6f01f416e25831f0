/* SPDX-License-Identifier: MIT */
/* rlctl logs: the output of attempts, also following it with -f. */
#include <stdlib.h>
#include <string.h>

#include "client/attempt_output.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/message.h"
#include "client/transcript.h"
#include "proto/call.h"

#define LOOK_AGAIN_MS 250	/* poll while an attempt runs: its output makes no events */

static const char *const both[] = { "stdout", "stderr", NULL };

struct logs {
	struct client *client;
	const char *const *streams;
	int64_t run, only;	/* only: number of a single attempt, FIELD_NONE: all */
	bool follow;
	bool words;		/* standard output as a conversation */
	bool open;		/* the last line has no end */
};

static bool is_over(const json_t *attempt)
{
	const char *state = field_text(attempt, "state");

	return strcmp(state, "exited") == 0 || strcmp(state, "lost") == 0;
}

/* Wait for an event of the run or the time to poll. Returns 0 or an exit code. */
static int pause_until_news(struct client *c, int timeout_ms)
{
	json_t *message;

	switch (call_notification(c->conn, timeout_ms, &message)) {
	case 1:
		json_decref(message);
		return 0;
	case -1:
		message_error("the daemon disappeared; its agents keep running. Repeat the command to "
		    "continue reading");
		return EXIT_NO_DAEMON;
	}
	return 0;
}

/* Read the attempt object again; NULL after a message. */
static json_t *logs_attempt(struct client *c, int64_t id, int *status)
{
	return client_get(c, "attempt.get", "id", id, status);
}

static int print_streams(struct logs *l, int64_t id, struct output_place *places, bool *eof)
{
	int status = 0;

	*eof = true;
	l->open = false;
	for (size_t i = 0; l->streams[i] != NULL && status == 0; i++) {
		status = output_print(l->client,
		    strcmp(l->streams[i], "stderr") == 0 && !l->client->json ? &l->client->talk
		                                                             : &l->client->out,
		    id, l->streams[i], &places[i]);
		*eof = *eof && places[i].eof;
		l->open = l->open || places[i].open;
	}
	return status;
}

/* Print what follows on standard output as a conversation. */
static int print_words(const struct logs *l, int64_t id, struct transcript *t, bool *eof)
{
	const struct print *out = &l->client->out;
	int status = 0;
	bool more = true;

	*eof = false;
	while (more && status == 0) {
		int64_t before = t->next;
		json_t *page = client_call(l->client, "attempt.transcript",
		    json_pack("{s:I, s:I}", "id", (json_int_t)id, "offset", (json_int_t)before), &status);

		if (page != NULL)
			transcript_print(t, out, page);
		*eof = field_true(page, "eof");
		more = page != NULL && !*eof && t->next > before;
		json_decref(page);
	}
	return status != 0 ? status : fflush(out->file) == EOF ? EXIT_REFUSED : 0;
}

/* The answer and what it took, once it has ended. */
static int print_end(const struct logs *l, const json_t *attempt, struct transcript *t)
{
	struct output_page page;
	int status = output_read(l->client, field_int(attempt, "id"), "answer", 0, &page);

	if (status != 0)
		return status;
	transcript_end(t, &l->client->out, page.bytes.data, attempt);
	output_release(&page);
	return 0;
}

/* As below, as a conversation: what it writes to standard error is printed as it is. */
static int show_words(const struct logs *l, const json_t *attempt)
{
	static const char *const beside[] = { "stderr", NULL };
	struct logs errors = { .client = l->client, .streams = beside };
	struct output_place place = { 0 };
	int64_t id = field_int(attempt, "id");
	struct transcript t = { 0 };
	json_t *now = json_incref((json_t *)attempt);
	bool eof, quiet, over;
	int status;

	do {
		over = is_over(now);
		status = print_words(l, id, &t, &eof);
		if (status == 0)
			status = print_streams(&errors, id, &place, &quiet);
		if (status != 0 || over || !l->follow)
			break;
		status = pause_until_news(l->client, LOOK_AGAIN_MS);
		json_decref(now);
		now = status == 0 ? logs_attempt(l->client, id, &status) : NULL;
	} while (status == 0);
	transcript_close(&t, &l->client->out);
	if (status == 0 && over)
		status = print_end(l, now, &t);
	json_decref(now);
	transcript_release(&t);
	return status;
}

/* Print one attempt: its output so far, and with -f until its end. The state is read before the
 * output, so output written before the end is never missed. */
static int show_attempt(struct logs *l, const json_t *attempt)
{
	struct output_place places[2] = { 0 };
	int64_t id = field_int(attempt, "id");
	bool over = is_over(attempt), eof;
	int status;

	for (;;) {
		json_t *now;

		status = print_streams(l, id, places, &eof);
		if (status != 0 || over || eof || !l->follow)
			return status;
		status = pause_until_news(l->client, LOOK_AGAIN_MS);
		if (status != 0)
			return status;
		now = logs_attempt(l->client, id, &status);
		if (now == NULL)
			return status;
		over = is_over(now);
		json_decref(now);
	}
}

static void logs_announce(const struct logs *l, const json_t *attempt)
{
	const struct print *talk = &l->client->talk;

	if (l->only != FIELD_NONE || l->client->json)
		return;
	fprintf(talk->file, "%s==> attempt %lld/%lld: ", l->open ? "\n" : "", (long long)l->run,
	    field_count(attempt, "number"));
	print_painted(talk, PAINT_BOLD, field_text(attempt, "role"));
	fputs(", ", talk->file);
	print_painted(talk, PAINT_NONE, field_text(attempt, "agent"));
	fputc('\n', talk->file);
	fflush(talk->file);
}

/* Print the attempts after number *last. */
static int show_new(struct logs *l, int64_t *last)
{
	int status;
	json_t *result = client_list_of_run(l->client, "attempt.list", "attempts", l->run, &status);
	const json_t *attempts = field_array(result, "attempts");

	for (size_t i = 0; i < json_array_size(attempts) && status == 0; i++) {
		const json_t *attempt = json_array_get(attempts, i);
		int64_t number = field_int(attempt, "number");

		if (number <= *last || (l->only != FIELD_NONE && l->only != number))
			continue;
		logs_announce(l, attempt);
		status = l->words ? show_words(l, attempt) : show_attempt(l, attempt);
		*last = number;
	}
	json_decref(result);
	return status;
}

/* Print attempt after attempt until the run is final. The run's state is read before the list, so
 * no attempt is missed. */
static int show_run(struct logs *l)
{
	int64_t last = 0;

	for (;;) {
		int64_t before = last;
		int status;
		json_t *run = client_get(l->client, "run.get", "id", l->run, &status);
		bool over = exit_is_final(field_text(run, "state"));

		json_decref(run);
		if (status == 0)
			status = show_new(l, &last);
		if (status != 0)
			return status;
		if (l->only != FIELD_NONE && last == l->only)
			return EXIT_DONE;
		if (over || !l->follow)
			break;
		/* Events that arrived while an attempt was shown only caused a poll: look at the
		 * run before waiting again. */
		if (last > before)
			continue;
		status = pause_until_news(l->client, -1);
		if (status != 0)
			return status;
	}
	if (l->only == FIELD_NONE && last == 0 && !l->client->json)
		fprintf(l->client->talk.file,
		    "Run %lld has no attempts; \"rlctl show %lld\" tells why.\n", (long long)l->run,
		    (long long)l->run);
	if (l->only == FIELD_NONE)
		return EXIT_DONE;
	message_error("run %lld has no attempt %lld; \"rlctl show %lld\" lists them", (long long)l->run,
	    (long long)l->only, (long long)l->run);
	return EXIT_REFUSED;
}

int logs_command(struct client *c)
{
	const char *stream = options_text(&c->options, "stream");
	const char *one[] = { stream, NULL };
	struct logs l = { .client = c,
		.streams = stream == NULL ? both : one,
		.follow = options_given(&c->options, "follow"),
		.words = options_given(&c->options, "words") };
	int status = client_parse_run(c->options.arguments[0], &l.run, &l.only);

	/* for people, unless they ask for something else */
	if (c->out.terminal && !c->json && stream == NULL && !options_given(&c->options, "raw"))
		l.words = true;
	if (l.words && (stream != NULL || c->json || options_given(&c->options, "raw"))) {
		message_error("--words cannot be combined with --raw, --stream or --json");
		return EXIT_USAGE;
	}
	if (status == 0 && l.follow) {
		json_t *hello;

		status = client_connect(c);
		hello = status == 0 ? client_get(c, "event.subscribe", "run", l.run, &status) : NULL;
		json_decref(hello);
	}
	return status != 0 ? status : show_run(&l);
}
