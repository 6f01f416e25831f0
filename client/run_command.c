/* SPDX-License-Identifier: MIT */
/* rlctl run: submit, follow, print the answer. Ctrl-C detaches, a second one cancels the run. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/attempt_output.h"
#include "client/cell.h"
#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/hold_command.h"
#include "client/live.h"
#include "client/message.h"
#include "client/reconnect.h"
#include "client/run_line.h"
#include "client/status_line.h"
#include "client/submit_command.h"
#include "client/task_summary.h"
#include "proto/call.h"
#include "proto/clock.h"
#include "proto/escape.h"

#define SECOND_THOUGHTS_MS 2000	/* how long a second Ctrl-C cancels the run */
#define REPORT_LATE_MS 1000

struct follow {
	struct client *client;
	struct live *live;	/* NULL: quiet */
	/* below the lines of live; without print: there is none */
	struct status_line status;
	struct run_line line;
	int64_t run;
	int64_t seq;		/* sequence number of the last event */
	int returns;		/* number of reconnects since then */
	int interrupts;		/* signalfd of SIGINT */
};

enum follow_result { FOLLOW_FINAL, FOLLOW_INTERRUPTED, FOLLOW_TIMEOUT, FOLLOW_BROKEN, FOLLOW_BACK };

/* Number of the newest event: all events of the new run come later. */
static int64_t current_seq(struct client *c, int *status)
{
	json_t *result = client_call(c, "event.unsubscribe", NULL, status);
	int64_t seq = field_int(result, "seq");

	json_decref(result);
	return seq == FIELD_NONE ? 0 : seq;
}

/* A signalfd for SIGINT, which then no longer ends rlctl; unless it was ignored, as nohup(1) and
 * shells do for background jobs. */
static int catch_interrupts(void)
{
	struct sigaction now;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd == -1)
		message_die("signalfd");
	if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigprocmask(SIG_BLOCK, &set, NULL);
	return fd;
}

/* Let SIGINT end rlctl again. */
static void release_interrupts(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Process received events. Returns true if the run is final. *broken: the connection was lost. */
static bool take_events(struct follow *f, bool *broken)
{
	json_t *message;
	bool final = false;
	int got;

	while (!final && (got = call_notification(f->client->conn, 0, &message)) == 1) {
		const json_t *event = json_object_get(message, "params");

		if (field_is(message, "method", "event") && field_int(event, "run") == f->run &&
		    field_int(event, "seq") > f->seq) {
			f->seq = field_int(event, "seq");
			f->returns = 0;
			f->line.stale = true;
			status_line_erase(&f->status);
			if (f->live != NULL)
				live_event(f->live, event);
			else if (submit_is_blocked(event))
				message_note("run %lld waits: %s", (long long)f->run, field_text(event, "reason"));
			final = field_is(event, "type", "run.state") && exit_is_final(field_text(event, "state"));
		}
		json_decref(message);
	}
	*broken = !final && got == -1;
	return final;
}

/* ---- the status line ---- */

static bool has_status(const struct follow *f)
{
	return f->status.print != NULL;
}

/* Calls here give up on a Ctrl-C; a reply that comes late is skipped. */
static void load_status(struct follow *f)
{
	if (!has_status(f))
		return;
	call_give_up_on(f->client->conn, f->interrupts);
	run_line_load(&f->line, f->client->conn);
	call_give_up_on(f->client->conn, -1);
}

static void draw_status(struct follow *f)
{
	struct lines l;

	if (!has_status(f) || f->line.document == NULL)
		return;
	lines_init(&l, status_line_room(&f->status), f->client->talk.color);
	run_line_put(&l, f->line.document, f->line.preview, clock_wall());
	status_line_draw(&f->status, l.line[0]);
	lines_release(&l);
}

/* The sooner of the two; -1: never. */
static int sooner(int a, int b)
{
	return a == -1 || (b != -1 && b < a) ? b : a;
}

/* timeout_ms: in total, however many events arrive; -1: none. */
static enum follow_result follow_events(struct follow *f, int timeout_ms)
{
	int64_t until = clock_steady() + timeout_ms;

	for (;;) {
		struct signalfd_siginfo info;
		int64_t left;
		bool broken;

		/* before the events: a call may receive some */
		load_status(f);
		if (take_events(f, &broken))
			return FOLLOW_FINAL;
		if (broken)
			return FOLLOW_BROKEN;
		draw_status(f);
		left = timeout_ms == -1 ? -1 : until - clock_steady();
		if (timeout_ms != -1 && left <= 0)
			return FOLLOW_TIMEOUT;
		if (call_listen(f->client->conn, f->interrupts,
		    sooner((int)left, has_status(f) ? run_line_due_ms(&f->line) : -1)) &&
		    read(f->interrupts, &info, sizeof(info)) == (ssize_t)sizeof(info))
			return FOLLOW_INTERRUPTED;
	}
}

/* The same, and everything printed afterwards starts on a clean line. */
static enum follow_result run_follow(struct follow *f, int timeout_ms)
{
	enum follow_result result = follow_events(f, timeout_ms);

	status_line_erase(&f->status);
	return result;
}

static void print_detached(const struct follow *f)
{
	fprintf(f->client->talk.file,
	    "\nDetached. Run %lld continues: \"rlctl show %lld\", \"rlctl logs -f %lld\", \"rlctl "
	    "cancel %lld\".\n",
	    (long long)f->run, (long long)f->run, (long long)f->run, (long long)f->run);
}

/* The first Ctrl-C: print how to return, and leave a moment for the second. */
static enum follow_result let_go(struct follow *f)
{
	print_detached(f);
	fputs("Press Ctrl-C again to cancel the run.\n", f->client->talk.file);
	fflush(f->client->talk.file);
	f->status.print = NULL;
	return run_follow(f, SECOND_THOUGHTS_MS);
}

/* A restarted or upgraded daemon returns in a moment; agents keep running. */
static enum follow_result come_back(struct follow *f)
{
	static const enum follow_result results[] = { [RECONNECT_BACK] = FOLLOW_BACK,
		[RECONNECT_GONE] = FOLLOW_BROKEN, [RECONNECT_INTERRUPTED] = FOLLOW_INTERRUPTED };

	if (f->returns++ == RECONNECTS_MAX)
		return FOLLOW_BROKEN;
	if (f->live != NULL && f->returns == 1)
		fputs("The daemon disappeared; waiting for it to return.\n", f->client->talk.file);
	fflush(f->client->talk.file);
	return results[reconnect_events(f->client, f->run, f->seq, f->interrupts)];
}

/* A run that cannot be cancelled, for example because it has just ended, is followed to its end. */
static enum follow_result run_cancel(struct follow *f)
{
	int status;

	release_interrupts();
	json_decref(client_get(f->client, "run.cancel", "id", f->run, &status));
	return status != EXIT_NO_DAEMON ? run_follow(f, -1) : FOLLOW_BROKEN;
}

/* Show the issues with which the run was accepted. */
static void print_issues(const json_t *run)
{
	const json_t *issues = field_array(run, "known_issues");

	for (size_t i = 0; i < json_array_size(issues); i++)
		message_note("known issue: %s", json_string_value(json_array_get(issues, i)));
}

/* Printer for the events of the run. */
static struct live *live_of(struct client *c, int64_t id)
{
	int status;
	json_t *run = client_get(c, "run.get", "id", id, &status);
	struct live *live = live_new(&c->talk, run, "");

	json_decref(run);
	return live;
}

/* Whether an agent completed work in this iteration, or there were others before. */
static bool has_diff(const json_t *run)
{
	const json_t *slots = field_array(run, "slots");
	bool found = field_count(run, "iteration") > 1 || *field_text(run, "result_ref") != '\0';

	for (size_t i = 0; i < json_array_size(slots); i++)
		found |= field_int(json_array_get(slots, i), "diff") != FIELD_NONE;
	return found;
}

static void print_see(const struct client *c, const json_t *run)
{
	long long id = field_count(run, "id");

	fputs("See ", c->talk.file);
	if (field_is(run, "state", "failed"))
		fprintf(c->talk.file, "\"rlctl logs %lld\", ", id);
	fprintf(c->talk.file, "\"rlctl show %lld\"", id);
	if (has_diff(run))
		fprintf(c->talk.file, ", \"rlctl diff %lld\"", id);
	fputs(".\n", c->talk.file);
}

static void print_end(const struct client *c, const json_t *run)
{
	const char *state = field_text(run, "state"), *ref = field_text(run, "result_ref"),
	           *commit = field_text(run, "result_commit");
	const json_t *totals = json_object_get(run, "totals");
	char *took = cell_duration(totals, "wall_ms"), *cost = cell_cost(totals, "cost_usd");
	const char *take = field_text(json_object_get(run, "overview"), "take");

	if (tasks_are_many(run)) {
		char *count = tasks_count(run);

		fprintf(c->talk.file, "Tasks: %s. ", count);
		free(count);
	}
	if (*took != '\0' || *cost != '\0')
		fprintf(c->talk.file, "%s%s%s%s. ", *took != '\0' ? "Duration: " : "Cost: ", took,
		    *took != '\0' && *cost != '\0' ? ", cost: " : "", cost);
	if (*ref != '\0') {
		fputs("The reviewed tree is saved as ", c->talk.file);
		print_painted(&c->talk, PAINT_BOLD, ref);
		fputs(". ", c->talk.file);
	}
	if (*commit != '\0' && tasks_have_result(run)) {
		fputs("It is committed as ", c->talk.file);
		print_painted(&c->talk, PAINT_BOLD, commit);
		fputs(". ", c->talk.file);
	}
	if (*take != '\0')
		fprintf(c->talk.file, "To merge it: \"%s\". ", take);
	if (strcmp(state, "held") == 0)
		hold_print_open(c, field_array(run, "holds"));
	else
		print_see(c, run);
	free(took);
	free(cost);
}

/* The accepted answer, with a newline at the end. */
static int print_answer(struct client *c, const json_t *run)
{
	const json_t *result = json_object_get(run, "result");
	int64_t attempt = field_int(result, "attempt");
	struct output_place place = { 0 };
	int status = attempt == FIELD_NONE ? 0 : output_print(c, &c->out, attempt, "answer", &place);

	if (place.open)
		fputc('\n', c->out.file);
	return status;
}

/* A report that cannot be written does not fail the run, so only rlctl reports it. An older file is
 * not the report of this run; file times may lag by a few milliseconds. */
static void print_report(const struct client *c, const json_t *run)
{
	const char *path = options_text(&c->options, "report");
	int64_t id = field_int(run, "id"), created = field_time(run, "created_at");
	struct stat st;

	if (path == NULL || c->host != NULL ||
	    (stat(path, &st) == 0 &&
	        (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 + REPORT_LATE_MS >=
	            created))
		return;
	message_error("the report %s was not written, see the log of rld; \"rlctl report %lld --format json "
	    "-o FILE\" writes it", path, (long long)id);
}

static int run_finish(struct follow *f)
{
	struct client *c = f->client;
	int status, code;
	json_t *run;

	release_interrupts();
	/* the reply comes after the report was written */
	if (options_given(&c->options, "report"))
		json_decref(client_call(c, "run.wait", json_pack("{s:[I]}", "ids", (json_int_t)f->run), &status));
	run = client_get_json(c, "run.get", "id", f->run, &status);
	if (run == NULL)
		return status;
	code = exit_of_run(run);
	print_report(c, run);
	if (f->live != NULL) {
		submit_print_warnings(run);
		print_issues(run);
		print_end(c, run);
	}
	if (code == EXIT_DONE && !c->json)
		status = print_answer(c, run);
	json_decref(run);
	return status != 0 ? status : code;
}

static int follow_to_the_end(struct follow *f)
{
	enum follow_result result = run_follow(f, -1);

	while (result == FOLLOW_BROKEN && (result = come_back(f)) == FOLLOW_BACK)
		result = run_follow(f, -1);
	if (result == FOLLOW_INTERRUPTED) {
		if (f->client->conn == NULL) {
			print_detached(f);
			return EXIT_DETACHED;
		}
		result = let_go(f);
		if (result == FOLLOW_TIMEOUT)
			return EXIT_DETACHED;
		if (result == FOLLOW_INTERRUPTED)
			result = run_cancel(f);
	}
	if (result == FOLLOW_FINAL)
		return run_finish(f);
	message_error("the daemon disappeared; run %lld and its agents continue. \"rlctl wait %lld\" resumes "
	    "waiting",
	    (long long)f->run, (long long)f->run);
	return EXIT_NO_DAEMON;
}

int run_command(struct client *c)
{
	bool quiet = options_given(&c->options, "quiet");
	struct follow f = { .client = c, .interrupts = -1 };
	int64_t since;
	json_t *submitted;
	int status;

	if (options_given(&c->options, "dry-run"))
		return submit_command(c);
	since = current_seq(c, &status);
	if (status != 0)
		return status;
	submitted = submit_send(c, &status);
	if (submitted == NULL)
		return status;
	f.run = field_int(submitted, "id");
	f.seq = since;
	f.interrupts = catch_interrupts();
	f.live = quiet ? NULL : live_of(c, f.run);
	f.line.run = f.run;
	f.status.print = !quiet && status_line_usable(&c->talk) ? &c->talk : NULL;
	/* with a known key the run may have ended before the events requested here */
	if (exit_is_final(field_text(submitted, "state")))
		status = run_finish(&f);
	else if ((status = client_subscribe(c, f.run, since)) == 0)
		status = follow_to_the_end(&f);
	live_free(f.live);
	run_line_release(&f.line);
	close(f.interrupts);
	json_decref(submitted);
	return status;
}
