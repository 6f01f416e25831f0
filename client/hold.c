/* SPDX-License-Identifier: MIT */
/* rlctl hold: what waits for a human, and the human's answer. */
#include "client/hold.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/review.h"
#include "client/show.h"
#include "client/table.h"
#include "proto/memory.h"

#define MESSAGE_MAX (256 * 1024)

static const struct table_column list_columns[] = {
	{ "HOLD", TABLE_RIGHT },
	{ "RUN", TABLE_RIGHT },
	{ "TASK", 0 },
	{ "STATE", 0 },
	{ "KIND", 0 },
	{ "AGE", TABLE_RIGHT },
	{ "REVIEWS", TABLE_RIGHT },
	{ "WHY", TABLE_FLEXIBLE },
};

static void add_hold(struct table *t, const json_t *hold)
{
	const char *state = field_text(hold, "state");
	size_t reviews = json_array_size(field_array(hold, "reviews"));

	table_take(t, PAINT_NONE, show_number(hold, "id"));
	table_take(t, PAINT_NONE, show_number(hold, "run"));
	table_add(t, PAINT_NONE, field_text(hold, "task"));
	table_add(t, print_state_paint(state), state);
	table_add(t, PAINT_NONE, field_text(hold, "kind"));
	table_take(t, PAINT_NONE, print_age(field_time(hold, "created_at")));
	table_take(t, PAINT_NONE, xasprintf("%zu", reviews));
	table_add(t, PAINT_NONE, field_text(hold, "reason"));
}

static int list(struct client *c, int64_t id)
{
	const char *state = options_text(&c->options, "state"), *of = options_text(&c->options, "run");
	json_t *params = json_incref(c->options.params), *result;
	const json_t *holds;
	struct table *t;
	int64_t run;
	int status;

	(void)id;
	if (state == NULL || strcmp(state, "all") != 0)
		json_object_set_new(params, "state", json_string(state == NULL ? "open" : state));
	if (of != NULL) {
		if (client_parse_run(of, &run, NULL) != 0) {
			json_decref(params);
			return EXIT_USAGE;
		}
		json_object_set_new(params, "run", json_integer(run));
	}
	result = client_call_json(c, "hold.list", params, &status);
	holds = field_array(result, "holds");
	if (result != NULL && !c->json) {
		t = table_new(list_columns, ARRAY_SIZE(list_columns));
		for (size_t i = 0; i < json_array_size(holds); i++)
			add_hold(t, json_array_get(holds, i));
		table_print(t, &c->out, false);
		table_free(t);
		if (json_array_size(holds) == 0)
			fputs(state == NULL ? "Nothing waits for a human.\n" : "There are no such holds.\n", c->talk.file);
		else if (field_int(result, "next") != FIELD_NONE)
			fprintf(c->talk.file, "There may be older ones: \"rlctl hold list --before %lld\".\n", (long long)field_int(result, "next"));
	}
	json_decref(result);
	return status;
}

static void print_hold(const struct print *p, const json_t *hold)
{
	const json_t *reviews = field_array(hold, "reviews");
	long long id = (long long)field_int(hold, "id");
	struct table *t = table_facts();
	const char *state = field_text(hold, "state"), *kind = field_text(hold, "kind");
	bool lost = strcmp(kind, "lost") == 0;

	fprintf(p->file, "Hold %lld  ", id);
	print_painted(p, print_state_paint(state), state);
	fputc('\n', p->file);
	table_fact(t, "run", PAINT_NONE, show_number(hold, "run"));
	table_fact(t, "task", PAINT_NONE, xstrdup(field_text(hold, "task")));
	table_fact(t, "kind", PAINT_NONE, xstrdup(kind));
	table_fact(t, "reason", PAINT_YELLOW, xstrdup(field_text(hold, "reason")));
	table_fact(t, "since", PAINT_NONE, show_when(hold, "created_at"));
	table_fact(t, "decided", PAINT_NONE, show_when(hold, "decided_at"));
	table_fact(t, "by", PAINT_NONE, xstrdup(field_text(hold, "decided_by")));
	table_fact(t, "message", PAINT_NONE, xstrdup(field_text(hold, "message")));
	if (strcmp(state, "open") == 0 && lost)
		table_fact(t, "next", PAINT_NONE, xasprintf("rlctl hold rework %lld, which runs it again, or reject %lld", id, id));
	else if (strcmp(state, "open") == 0)
		table_fact(t, "next", PAINT_NONE, xasprintf("rlctl hold approve %lld, reject %lld, or rework %lld -m TEXT", id, id, id));
	table_print(t, p, true);
	table_free(t);
	if (json_array_size(reviews) > 0)
		fputc('\n', p->file);
	for (size_t i = 0; i < json_array_size(reviews); i++)
		review_print(p, json_array_get(reviews, i));
}

static int show(struct client *c, int64_t id)
{
	int status;
	json_t *hold = client_call_json(c, "hold.get", json_pack("{s:I}", "id", (json_int_t)id), &status);

	if (hold != NULL && !c->json)
		print_hold(&c->out, hold);
	json_decref(hold);
	return status;
}

/* --message, "-" is standard input. 0, or an exit code after telling; *text NULL: none was given. */
static int read_message(const struct client *c, char **text)
{
	const char *given = options_text(&c->options, "message");
	struct buf bytes = { 0 };
	int failure;

	*text = given == NULL ? NULL : xstrdup(given);
	if (given == NULL || strcmp(given, "-") != 0)
		return 0;
	failure = buf_read(&bytes, STDIN_FILENO, MESSAGE_MAX);
	if (failure == 0 && bytes.data != NULL && memchr(bytes.data, '\0', bytes.size) != NULL) {
		warnx("the message has a NUL byte, so it is no text");
		free(bytes.data);
		return EXIT_REFUSED;
	}
	if (failure != 0) {
		if (failure == -EFBIG)
			warnx("standard input: a message has at most %d KiB", MESSAGE_MAX >> 10);
		else
			warnx("standard input: %s", strerror(-failure));
		free(bytes.data);
		return EXIT_REFUSED;
	}
	free(*text);
	*text = bytes.data != NULL ? bytes.data : xstrdup("");
	return 0;
}

static bool is_blank(const char *text)
{
	return text == NULL || text[strspn(text, " \t\r\n")] == '\0';
}

/* Only what was lost is run again without a word: a fixer must be told what to do. */
static int need_message(struct client *c, int64_t id)
{
	int status;
	json_t *hold = client_call(c, "hold.get", json_pack("{s:I}", "id", (json_int_t)id), &status);

	if (hold != NULL && strcmp(field_text(hold, "kind"), "lost") != 0 && strcmp(field_text(hold, "state"), "open") == 0) {
		warnx("what is to be done? Say it with \"rlctl hold rework %lld -m TEXT\", or with \"-m -\" on standard input", (long long)id);
		status = EXIT_USAGE;
	}
	json_decref(hold);
	return status;
}

static int decide(struct client *c, int64_t id, const char *method, bool rework)
{
	json_t *params, *hold = NULL;
	char *message = NULL;
	int status = read_message(c, &message);

	if (status == 0 && rework && is_blank(message))
		status = need_message(c, id);
	if (status == 0) {
		params = json_pack("{s:I}", "id", (json_int_t)id);
		if (!is_blank(message) && json_object_set_new(params, "message", json_string(message)) == -1) {
			warnx("the message is not UTF-8; convert it, for example with iconv(1)");
			json_decref(params);
			status = EXIT_REFUSED;
		} else {
			hold = client_call_json(c, method, params, &status);
		}
	}
	if (hold != NULL && !c->json) {
		long long run = (long long)field_int(hold, "run");

		fprintf(c->talk.file, "Hold %lld: ", (long long)id);
		print_painted(&c->talk, print_state_paint(field_text(hold, "state")), field_text(hold, "state"));
		fprintf(c->talk.file, ". \"rlctl wait %lld\" waits for the end of the run, \"rlctl show %lld\" shows it.\n", run, run);
	}
	json_decref(hold);
	free(message);
	return status;
}

static int approve(struct client *c, int64_t id)
{
	return decide(c, id, "hold.approve", false);
}

static int reject(struct client *c, int64_t id)
{
	return decide(c, id, "hold.reject", false);
}

static int rework(struct client *c, int64_t id)
{
	return decide(c, id, "hold.rework", true);
}

static const struct {
	const char *name;
	int ids;
	int (*run)(struct client *c, int64_t id);
} actions[] = {
	{ "list", 0, list }, { "show", 1, show }, { "approve", 1, approve }, { "reject", 1, reject }, { "rework", 1, rework },
};

int hold_command(struct client *c)
{
	int64_t id = FIELD_NONE;

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (strcmp(actions[i].name, c->options.arguments[0]) != 0)
			continue;
		if (c->options.count != 1 + actions[i].ids)
			break;
		if (actions[i].ids == 1 && client_parse_id(c->options.arguments[1], &id) != 0) {
			warnx("%s is no hold's number; \"rlctl hold list\" shows the holds", c->options.arguments[1]);
			return EXIT_USAGE;
		}
		return actions[i].run(c, id);
	}
	warnx("usage: rlctl hold %s", c->command->usage);
	return EXIT_USAGE;
}

void hold_tell_open(const struct client *c, const json_t *holds)
{
	for (size_t i = 0; i < json_array_size(holds); i++) {
		const json_t *hold = json_array_get(holds, i);
		long long id = (long long)field_int(hold, "id");

		fprintf(c->talk.file, "Run %lld waits for you: \"rlctl hold show %lld\".\n", (long long)field_int(hold, "run"), id);
	}
}
