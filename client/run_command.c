/* SPDX-License-Identifier: MIT */
/* rlctl run: submit, follow, print the answer. Ctrl-C lets go of the run, a second
 * one cancels it. */
#include <err.h>
#include <poll.h>
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
#include "client/connect.h"
#include "client/field.h"
#include "client/hold_command.h"
#include "client/live.h"
#include "client/submit_command.h"
#include "client/task_summary.h"
#include "proto/call.h"
#include "proto/clock.h"
#include "proto/escape.h"

#define SECOND_THOUGHTS_MS 2000	/* after the hint, how long a second Ctrl-C still cancels */
#define RETURN_MS 10000		/* how long a daemon that has gone may take to come back */
#define LOOK_AGAIN_MS 100
#define REPORT_LATE_MS 1000
#define RETURNS 5		/* how often it may come back without news of the run */

struct follow {
	struct client *client;
	struct live *live;	/* NULL: quiet */
	int64_t run;
	int64_t seq;		/* the last event seen */
	int returns;		/* of the daemon, since then */
	int interrupts;		/* signalfd of SIGINT */
};

enum follow_result { FOLLOW_FINAL, FOLLOW_INTERRUPTED, FOLLOW_TIMEOUT, FOLLOW_BROKEN, FOLLOW_BACK };

/* The number of the newest event: what happens to the run to be comes after it. */
static int64_t current_seq(struct client *c, int *status)
{
	json_t *result = client_call(c, "event.unsubscribe", NULL, status);
	int64_t seq = field_int(result, "seq");

	json_decref(result);
	return seq == FIELD_NONE ? 0 : seq;
}

/* A signalfd for SIGINT, which from now on does not end us by itself; unless somebody had it
 * ignored, as nohup(1) and shells do for what runs in the background. */
static int catch_interrupts(void)
{
	struct sigaction now;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd == -1)
		err(EXIT_REFUSED, "signalfd");
	if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigprocmask(SIG_BLOCK, &set, NULL);
	return fd;
}

/* SIGINT ends us again. */
static void release_interrupts(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Take what has arrived. True: the run is final. *broken: the connection has ended. */
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
			if (f->live != NULL)
				live_event(f->live, event);
			final = field_is(event, "type", "run.state") && exit_is_final(field_text(event, "state"));
		}
		json_decref(message);
	}
	*broken = !final && got == -1;
	return final;
}

/* timeout_ms: for all of it, whatever is told meanwhile; -1: none. */
static enum follow_result run_follow(struct follow *f, int timeout_ms)
{
	int64_t until = clock_steady() + timeout_ms;

	for (;;) {
		struct pollfd p[] = { { .fd = call_fd(f->client->conn), .events = POLLIN },
			{ .fd = f->interrupts, .events = POLLIN } };
		struct signalfd_siginfo info;
		int64_t left;
		bool broken;

		if (take_events(f, &broken))
			return FOLLOW_FINAL;
		if (broken)
			return FOLLOW_BROKEN;
		left = timeout_ms == -1 ? -1 : until - clock_steady();
		if ((timeout_ms != -1 && left <= 0) || poll(p, 2, (int)left) == 0)
			return FOLLOW_TIMEOUT;
		if (p[1].revents != 0 && read(f->interrupts, &info, sizeof(info)) == (ssize_t)sizeof(info))
			return FOLLOW_INTERRUPTED;
	}
}

static void print_detached(const struct follow *f)
{
	fprintf(f->client->talk.file,
	    "\nRun %lld goes on without this terminal: \"rlctl show %lld\", "
	    "\"rlctl logs -f %lld\", \"rlctl cancel %lld\".\n",
	    (long long)f->run, (long long)f->run, (long long)f->run, (long long)f->run);
}

/* The first Ctrl-C: say how to come back, and give a moment for the second. */
static enum follow_result let_go(struct follow *f)
{
	print_detached(f);
	fputs("Ctrl-C again cancels it now.\n", f->client->talk.file);
	fflush(f->client->talk.file);
	return run_follow(f, SECOND_THOUGHTS_MS);
}

static void hang_up(struct client *c)
{
	call_close(c->conn);
	json_decref(c->hello);
	c->conn = NULL;
	c->hello = NULL;
}

/* One quick try. *refused: it is not the daemon that we know. */
static bool follow_again(struct follow *f, bool *refused)
{
	struct client *c = f->client;
	struct call_error why;
	json_t *result;

	*refused = false;
	if (!connect_again(c->socket, &c->trust, &c->conn, &c->hello))
		return false;
	result = call_method(c->conn, "event.subscribe",
	    json_pack("{s:I, s:I}", "run", (json_int_t)f->run, "since", (json_int_t)f->seq), &why);
	if (result == NULL) {
		*refused = why.code != 0;
		hang_up(c);
	}
	json_decref(result);
	return result != NULL;
}

/* Restarted or upgraded, a daemon is back in a moment, and the agents have gone on meanwhile. */
static enum follow_result come_back(struct follow *f)
{
	struct pollfd p = { .fd = f->interrupts, .events = POLLIN };
	struct signalfd_siginfo info;
	int64_t since = clock_steady();
	bool refused = false;

	hang_up(f->client);
	if (f->returns++ == RETURNS)
		return FOLLOW_BROKEN;
	if (f->live != NULL && f->returns == 1)
		fputs("The daemon has gone; waiting for it to come back.\n", f->client->talk.file);
	fflush(f->client->talk.file);
	while (!refused && clock_steady() - since < RETURN_MS) {
		if (follow_again(f, &refused))
			return FOLLOW_BACK;
		if (poll(&p, 1, LOOK_AGAIN_MS) > 0 && read(f->interrupts, &info, sizeof(info)) == (ssize_t)sizeof(info))
			return FOLLOW_INTERRUPTED;
	}
	return FOLLOW_BROKEN;
}

/* One that cannot be cancelled, perhaps since it has just ended, is followed all the same: its
 * end is on the way. */
static enum follow_result run_cancel(struct follow *f)
{
	int status;

	release_interrupts();
	json_decref(client_get(f->client, "run.cancel", "id", f->run, &status));
	return status != EXIT_NO_DAEMON ? run_follow(f, -1) : FOLLOW_BROKEN;
}

/* What the run ends with by leave of its policy is no secret. */
static void print_issues(const json_t *run)
{
	const json_t *issues = field_array(run, "known_issues");

	for (size_t i = 0; i < json_array_size(issues); i++)
		print_warning("known issue: %s", json_string_value(json_array_get(issues, i)));
}

/* Lines that tell what happens to it. */
static struct live *live_of(struct client *c, int64_t id)
{
	int status;
	json_t *run = client_get(c, "run.get", "id", id, &status);
	struct live *live = live_new(&c->talk, run, "");

	json_decref(run);
	return live;
}

static void print_end(const struct client *c, const json_t *run)
{
	const char *state = field_text(run, "state"), *ref = field_text(run, "result_ref"),
	           *commit = field_text(run, "result_commit");
	const json_t *totals = json_object_get(run, "totals");
	long long id = field_count(run, "id");
	char *took = cell_duration(totals, "wall_ms"), *cost = cell_cost(totals, "cost_usd");
	char *branch = tasks_branch(run);

	if (*took != '\0' || *cost != '\0')
		fprintf(c->talk.file, "It took %s%s%s. ", took, *took != '\0' && *cost != '\0' ? " and " : "", cost);
	if (*ref != '\0') {
		fputs("The reviewed tree is kept as ", c->talk.file);
		print_painted(&c->talk, PAINT_BOLD, ref);
		fputs(". ", c->talk.file);
	}
	if (*commit != '\0' && tasks_have_result(run)) {
		fputs("It is committed as ", c->talk.file);
		print_painted(&c->talk, PAINT_BOLD, commit);
		fputs(". ", c->talk.file);
	}
	if (*branch != '\0')
		fprintf(c->talk.file, "To take it: \"git merge %s\". ", branch);
	if (strcmp(state, "held") == 0)
		hold_print_open(c, field_array(run, "holds"));
	else if (strcmp(state, "failed") == 0)
		fprintf(c->talk.file,
		    "See \"rlctl logs %lld\", \"rlctl show %lld\", \"rlctl diff %lld\".\n", id, id,
		    id);
	else
		fprintf(c->talk.file, "See \"rlctl show %lld\", \"rlctl diff %lld\".\n", id, id);
	free(branch);
	free(took);
	free(cost);
}

/* The accepted answer, on a line of its own if it does not end with one. */
static int print_answer(struct client *c, const json_t *run)
{
	const json_t *result = json_object_get(run, "result");
	int64_t attempt = field_int(result, "attempt"), offset = 0;
	bool eof = false, whole_line = true;
	int status = 0;

	while (attempt != FIELD_NONE && !eof && status == 0) {
		struct output_page page;

		status = output_read(c, attempt, "answer", offset, &page);
		if (status != 0)
			return status;
		print_agent_text(&c->out, page.bytes.data, page.bytes.size);
		if (page.bytes.size > 0)
			whole_line = page.bytes.data[page.bytes.size - 1] == '\n';
		eof = page.eof || page.next <= offset;
		offset = page.next;
		output_release(&page);
	}
	if (!whole_line)
		fputc('\n', c->out.file);
	return status;
}

/* A report that cannot be written costs the run nothing, so only we are left to tell. One from
 * before is no report of this run; the clock of files is some milliseconds late. */
static void print_report(const struct client *c, const json_t *run)
{
	const char *path = options_text(&c->options, "report");
	int64_t id = field_int(run, "id"), created = field_time(run, "created_at");
	struct stat st;

	if (path == NULL ||
	    (stat(path, &st) == 0 &&
	        (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 + REPORT_LATE_MS >=
	            created))
		return;
	warnx(
	    "the report %s was not written, the log of rld says why; "
	    "\"rlctl report %lld --format json -o FILE\" makes it", path, (long long)id);
}

static int run_finish(struct follow *f)
{
	struct client *c = f->client;
	int status, code;
	json_t *run;

	release_interrupts();
	/* answered when the report is written as well */
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
	warnx(
	    "the daemon has gone; run %lld and its agents go on. \"rlctl wait %lld\" takes up the waiting",
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
	/* With a key that is known the run may have ended long ago, before the
	 * events we ask for. */
	if (exit_is_final(field_text(submitted, "state")))
		status = run_finish(&f);
	else if ((status = client_subscribe(c, f.run, since)) == 0)
		status = follow_to_the_end(&f);
	live_free(f.live);
	close(f.interrupts);
	json_decref(submitted);
	return status;
}
