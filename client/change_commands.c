/* SPDX-License-Identifier: MIT */
/* rlctl cancel, pause, resume, change and retry: one request per run. */
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/print.h"
#include "client/submit_command.h"

/* more: parameters other than the id. A refusal for one run does not stop the others. */
static int change_each(struct client *c, const char *method, const json_t *more,
    void (*tell)(struct client *c, int64_t asked, const json_t *run))
{
	int worst = EXIT_DONE;

	for (int i = 0; i < c->options.count; i++) {
		int64_t id;

		if (client_parse_run(c->options.arguments[i], &id, NULL) != 0)
			return EXIT_USAGE;
	}
	for (int i = 0; i < c->options.count; i++) {
		int64_t id = FIELD_NONE;
		json_t *run, *params = json_deep_copy(more);
		int status;

		client_parse_run(c->options.arguments[i], &id, NULL);
		json_object_set_new(params, "id", json_integer(id));
		run = client_call_json(c, method, params, &status);
		if (run == NULL && status == EXIT_NO_DAEMON)
			return status;
		if (run == NULL)
			worst = status;
		else if (!c->json)
			tell(c, id, run);
		json_decref(run);
	}
	return worst;
}

static void print_cancelled(struct client *c, int64_t asked, const json_t *run)
{
	const char *state = field_text(run, "state");
	/* a held run stays held until its work trees are saved */
	bool over = exit_has_ended(state);

	fprintf(c->talk.file, "Run %lld: ", (long long)asked);
	print_painted(&c->talk, print_state_paint(state), over ? state : "cancelling");
	fputc('\n', c->talk.file);
}

/* Running attempts are not interrupted. A held run is paused in addition. */
static void print_paused(struct client *c, int64_t asked, const json_t *run)
{
	bool held = field_is(run, "state", "held");

	fprintf(c->talk.file, "Run %lld: ", (long long)asked);
	print_painted(&c->talk, print_state_paint("paused"), held ? "held and paused" : "paused");
	fprintf(c->talk.file, "; %s. \"rlctl resume %lld\" continues the run.\n",
	    held ? "decisions start no attempt" : "running attempts finish, no new ones start", (long long)asked);
}

/* The reason says why a queued run waits. */
static void print_resumed(struct client *c, int64_t asked, const json_t *run)
{
	const char *state = field_text(run, "state"), *reason = field_text(run, "reason");

	fprintf(c->talk.file, "Run %lld: ", (long long)asked);
	print_painted(&c->talk, print_state_paint(state), state);
	if (*reason != '\0')
		fprintf(c->talk.file, "; %s", reason);
	fputs(".\n", c->talk.file);
}

static int change_only(struct client *c, const char *method,
    void (*tell)(struct client *c, int64_t asked, const json_t *run))
{
	json_t *more = json_object();
	int status = change_each(c, method, more, tell);

	json_decref(more);
	return status;
}

int cancel_command(struct client *c)
{
	return change_only(c, "run.cancel", print_cancelled);
}

int pause_command(struct client *c)
{
	return change_only(c, "run.pause", print_paused);
}

int resume_command(struct client *c)
{
	return change_only(c, "run.resume", print_resumed);
}

/* Attempts under way keep what they began with. */
static void print_changed(struct client *c, int64_t asked, const json_t *run)
{
	fprintf(c->talk.file, "Run %lld: changed, %s; attempts under way keep their limits.\n", (long long)asked,
	    field_text(run, "state"));
}

int change_command(struct client *c)
{
	json_t *more = json_deep_copy(c->options.params);
	int status = json_object_get(more, "stories_path") != NULL ? submit_put_file(c, "stories", more) : 0;

	json_object_del(more, "stories_path");
	if (status == 0)
		status = change_each(c, "run.change", more, print_changed);
	json_decref(more);
	return status;
}

/* Scripts need the number of the new run. */
static void print_retried(struct client *c, int64_t asked, const json_t *run)
{
	fprintf(c->talk.file, "Run %lld is retried as:\n", (long long)asked);
	fflush(c->talk.file);
	fprintf(c->out.file, "%lld\n", field_count(run, "id"));
}

int retry_command(struct client *c)
{
	int status = client_connect(c);
	json_t *more;

	if (status != 0)
		return status;
	/* the environment of the first run was deleted when it ended */
	more = json_deep_copy(c->options.params);
	client_put_environment(c, more);
	status = change_each(c, "run.retry", more, print_retried);
	json_decref(more);
	return status;
}
