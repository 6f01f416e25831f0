/* SPDX-License-Identifier: MIT */
/* rlctl hold: list and decide holds. */
#include "client/hold_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/hold_choice.h"
#include "client/listing.h"
#include "client/message.h"
#include "client/print.h"
#include "client/review_command.h"
#include "client/table.h"
#include "proto/memory.h"

#define MESSAGE_MAX (256 * 1024)
#define HOLDS_MAX 50

static char *hold_reviews(const json_t *hold, const char *key)
{
	return xasprintf("%zu", json_array_size(field_array(hold, key)));
}

static const struct table_column columns[] = {
	{ "HOLD", TABLE_RIGHT, cell_number, .key = "id" },
	{ "RUN", TABLE_RIGHT, cell_number, .key = "run" },
	{ "TASK", 0, cell_text, .key = "task" },
	{ "STATE", 0, cell_text, "state", .paint_of = print_state_paint },
	{ "KIND", 0, cell_text, .key = "kind" },
	{ "AGE", TABLE_RIGHT, cell_age, .key = "created_at" },
	{ "REVIEWS", TABLE_RIGHT, hold_reviews, .key = "reviews" },
	{ "WHY", TABLE_FLEXIBLE, cell_text, .key = "reason" },
};

static int hold_list(struct client *c)
{
	const char *state = options_text(&c->options, "state"), *of = options_text(&c->options, "run");
	const struct listing holds = {
		"hold.list", "holds", columns, ARRAY_SIZE(columns),
		state == NULL ? "No open holds." : "No such holds.",
		"--before", NULL,
	};
	int64_t run;

	if (state == NULL || strcmp(state, "all") != 0)
		json_object_set_new(c->options.params, "state", json_string(state == NULL ? "open" : state));
	if (of != NULL) {
		if (client_parse_run(of, &run, NULL) != 0)
			return EXIT_USAGE;
		json_object_set_new(c->options.params, "run", json_integer(run));
	}
	return listing_run(c, &holds, json_incref(c->options.params));
}

/* Parse the number in the argument. Returns 0, or an exit code after a message. */
static int hold_parse(const struct client *c, int64_t *id)
{
	if (client_parse_id(c->options.arguments[1], id) == 0)
		return 0;
	message_error("%s is not the number of a hold; \"rlctl hold list\" shows them", c->options.arguments[1]);
	return EXIT_USAGE;
}

static void hold_print(const struct print *p, const json_t *hold)
{
	const json_t *reviews = field_array(hold, "reviews");
	struct table *t = table_facts();
	const char *state = field_text(hold, "state");

	fprintf(p->file, "Hold %lld  ", field_count(hold, "id"));
	print_painted(p, print_state_paint(state), state);
	fputc('\n', p->file);
	table_fact(t, "run", PAINT_NONE, cell_number(hold, "run"));
	table_member(t, "task", PAINT_NONE, hold, "task");
	table_member(t, "kind", PAINT_NONE, hold, "kind");
	table_member(t, "reason", PAINT_YELLOW, hold, "reason");
	table_fact(t, "since", PAINT_NONE, cell_when(hold, "created_at"));
	table_fact(t, "decided", PAINT_NONE, cell_when(hold, "decided_at"));
	table_member(t, "by", PAINT_NONE, hold, "decided_by");
	table_member(t, "message", PAINT_NONE, hold, "message");
	if (strcmp(state, "open") == 0)
		table_fact(t, "next", PAINT_NONE, choice_commands(hold));
	table_print_facts(t, p);
	if (json_array_size(reviews) > 0)
		fputc('\n', p->file);
	for (size_t i = 0; i < json_array_size(reviews); i++)
		review_print(p, json_array_get(reviews, i));
}

static int hold_show(struct client *c)
{
	int64_t id;
	int status = hold_parse(c, &id);
	json_t *hold = status == 0 ? client_get_json(c, "hold.get", "id", id, &status) : NULL;

	if (hold != NULL && !c->json)
		hold_print(&c->out, hold);
	json_decref(hold);
	return status;
}

/* --message, "-" is standard input. Returns 0, or an exit code after a message; *text NULL: not
 * given. */
static int hold_read_message(const struct client *c, char **text)
{
	const char *given = options_text(&c->options, "message");
	struct buf bytes = { 0 };
	int failure;

	*text = given == NULL ? NULL : xstrdup(given);
	if (given == NULL || strcmp(given, "-") != 0)
		return 0;
	failure = buf_read(&bytes, STDIN_FILENO, MESSAGE_MAX);
	if (failure == -EFBIG)
		message_error("standard input: a message has at most %d KiB", MESSAGE_MAX >> 10);
	else if (failure != 0)
		message_error("standard input: %s", strerror(-failure));
	else if (bytes.size > 0 && (failure = memchr(bytes.data, '\0', bytes.size) != NULL) != 0)
		message_error("the message contains a NUL byte");
	else
		text_set(text, bytes.size > 0 ? bytes.data : "");
	buf_release(&bytes);
	return failure != 0 ? EXIT_REFUSED : 0;
}

static bool hold_is_blank(const char *text)
{
	return text == NULL || text[strspn(text, " \t\r\n")] == '\0';
}

/* What was lost, refused or judged by no one is done again without a message; a fixer needs
 * instructions. */
static int hold_need_message(struct client *c, int64_t id)
{
	int status;
	json_t *hold = client_get(c, "hold.get", "id", id, &status);

	if (hold != NULL && choice_needs_text(choice_find("rework"), hold) && field_is(hold, "state", "open")) {
		message_error("missing instructions; use \"rlctl hold rework %lld -m TEXT\", or \"-m -\" to "
		    "read standard input", (long long)id);
		status = EXIT_USAGE;
	}
	json_decref(hold);
	return status;
}

/* The open question of "RUN", "RUN/TASK". Returns 0, or an exit code after a message. */
static int hold_find_question(struct client *c, int64_t *id)
{
	const char *what = c->options.arguments[1], *slash = strchr(what, '/');
	char *number = slash != NULL ? xmemdup0(what, (size_t)(slash - what)) : xstrdup(what);
	const json_t *holds;
	json_t *result;
	size_t found = 0;
	int64_t run;
	int status = client_parse_run(number, &run, NULL) == 0 ? 0 : EXIT_USAGE;

	free(number);
	if (status != 0)
		return status;
	result = client_call(c, "hold.list", json_pack("{s:I, s:s, s:i}", "run", (json_int_t)run, "state", "open",
	    "limit", HOLDS_MAX), &status);
	holds = field_array(result, "holds");
	for (size_t i = 0; i < json_array_size(holds); i++) {
		const json_t *hold = json_array_get(holds, i);

		if (!field_is(hold, "kind", "question") || (slash != NULL && !field_is(hold, "task", slash + 1)))
			continue;
		*id = field_count(hold, "id");
		found++;
	}
	json_decref(result);
	if (result != NULL && found != 1) {
		message_error(found == 0 ?
		    "run %lld asks nothing%s%s; \"rlctl hold list\" shows what waits for a decision" :
		    "several tasks of run %lld ask something%s%s; name one: RUN/TASK", (long long)run,
		    slash != NULL ? " for task " : "", slash != NULL ? slash + 1 : "");
		status = EXIT_REFUSED;
	}
	return status;
}

static int hold_decide(struct client *c, const char *method)
{
	bool rework = strcmp(method, "hold.rework") == 0, answer = strcmp(method, "hold.answer") == 0;
	json_t *params, *hold = NULL;
	char *message = NULL;
	int64_t id;
	int status = 0;

	if (answer && options_text(&c->options, "message") == NULL) {
		message_error("missing answer; use -m TEXT, or \"-m -\" to read standard input");
		return EXIT_USAGE;
	}
	status = answer ? hold_find_question(c, &id) : hold_parse(c, &id);
	if (status == 0)
		status = hold_read_message(c, &message);
	if (status == 0 && rework && hold_is_blank(message))
		status = hold_need_message(c, id);
	if (status == 0) {
		params = json_pack("{s:I}", "id", (json_int_t)id);
		if (!hold_is_blank(message) && json_object_set_new(params, "message", json_string(message)) == -1) {
			message_error("the message is not UTF-8; convert it, for example with iconv(1)");
			json_decref(params);
			status = EXIT_REFUSED;
		} else {
			hold = client_call_json(c, method, params, &status);
		}
	}
	if (hold != NULL && !c->json) {
		long long run = field_count(hold, "run");

		fprintf(c->talk.file, "Hold %lld: ", (long long)id);
		if (answer)
			fputs("answered", c->talk.file);
		else
			print_painted(&c->talk, print_state_paint(field_text(hold, "state")),
			    field_text(hold, "state"));
		fprintf(c->talk.file,
		    ". \"rlctl wait %lld\" waits for the run to end, \"rlctl show %lld\" shows "
		    "it.\n",
		    run, run);
	}
	json_decref(hold);
	free(message);
	return status;
}

static int hold_approve(struct client *c)
{
	return hold_decide(c, "hold.approve");
}

static int hold_reject(struct client *c)
{
	return hold_decide(c, "hold.reject");
}

static int hold_rework(struct client *c)
{
	return hold_decide(c, "hold.rework");
}

static int hold_answer(struct client *c)
{
	return hold_decide(c, "hold.answer");
}

static const struct client_action actions[] = {
	{ "list", 1, 1, hold_list }, { "show", 2, 2, hold_show }, { "approve", 2, 2, hold_approve },
	{ "reject", 2, 2, hold_reject },
	{ "rework", 2, 2, hold_rework }, { "answer", 2, 2, hold_answer },
};

int hold_command(struct client *c)
{
	return client_act(c, actions, ARRAY_SIZE(actions));
}

void hold_print_open(const struct client *c, const json_t *holds)
{
	for (size_t i = 0; i < json_array_size(holds); i++) {
		const json_t *hold = json_array_get(holds, i);
		long long id = field_count(hold, "id");

		fprintf(c->talk.file, "Run %lld needs your decision: \"rlctl hold show %lld\".\n",
		    field_count(hold, "run"), id);
	}
}
