/* SPDX-License-Identifier: MIT */
/*
 *   RUNNING ── SIGUSR1: its result is there, it may go ──▶ WINDING
 *   WINDING ── it prints: it was not through ──▶ RUNNING
 *   RUNNING, WINDING ── the agent exits ──▶ DRAINING
 *   DRAINING ── pipes at EOF, quiet, too long, SIGTERM ──▶ ENDING (strays, short grace)
 *       after an agent that SIGTERM ended: when none for us follows, as a shutdown sends both
 *   RUNNING ── SIGTERM, wall or idle limit, SIGUSR2: no progress for as long as the idle limit ──▶
 *       ENDING (tree, the job's grace)
 *   WINDING ── SIGTERM, wall limit, post-result limit without output ──▶ ENDING (the same)
 *       behind a launcher its cancel command is first: it signals the agent
 *   ENDING ─── grace is over ──▶ KILLING
 *   ENDING, KILLING ── waitpid says ECHILD ──▶ DONE
 *   KILLING ── strays cannot be killed ──▶ DONE, and the record says that the tree is not empty
 */
#include "shim/supervisor.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/far_status.h"
#include "record/layout.h"
#include "record/output.h"
#include "record/own_group.h"
#include "child/process_tree.h"
#include "shim/agent_process.h"
#include "shim/far_agent.h"

/* pipes held open after the exit: no data for this long ends the wait */
#define HELD_IDLE_MS 2000
#define HELD_HARD_MS 30000	/* and this long in any case */
/* output on stdout within this time before SIGUSR1 belongs to another turn, so the signal is
 * ignored; if not, rld sends it again */
#define QUIET_MS 500
/* after an agent that SIGTERM ended */
#define TOGETHER_MS 1000
#define STRAY_GRACE_MS 2000	/* for processes left behind by a finished agent */
#define KILL_EVERY_MS 10
#define KILL_LIMIT_MS 30000	/* strays that survive SIGKILL for this long are reported instead */
#define CHUNK 65536
#define FULL_RETRY_MS 1000
#define LAST_CHUNKS 16		/* a pipe holds at most 1 MiB, pipe(7) */

enum phase { RUNNING, WINDING, DRAINING, ENDING, KILLING, DONE };

struct stream {
	int fd;			/* -1: at EOF */
	struct output_writer *writer;
};

struct supervisor {
	const struct shim_job *job;
	struct exit_record *record;
	struct agent agent;
	struct agent_report report;		/* error 0: it was executed, as far as known */
	struct tree tree;
	struct stream streams[2];
	int dirfd, sigfd;
	int cancelling;			/* readable when the cancel command has ended; -1: none */
	enum phase phase;
	int64_t now, started, entered;	/* monotonic; entered: begin of the phase */
	/* on any stream, and on one that counts for idle limits */
	int64_t last_output, last_counted;
	int64_t last_said;		/* on stdout; 0: none so far */
	int64_t grace;			/* of ENDING */
	bool term;			/* SIGTERM was received, its sender is in the record */
	bool wind_up;			/* SIGUSR1 was received, and no output followed */
	bool stalled;			/* SIGUSR2 was received: its output is no progress */
	char chunk[CHUNK];
};

static int64_t clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void enter(struct supervisor *s, enum phase phase)
{
	s->phase = phase;
	s->entered = s->now;
}

static bool pump(struct supervisor *s, struct stream *stream);

/* Read what is in the pipes, up to a limit. */
static void empty_pipes(struct supervisor *s)
{
	for (int i = 0; i < 2; i++)
		for (int n = 0; n < LAST_CHUNKS && s->streams[i].fd != -1; n++)
			if (!pump(s, &s->streams[i]))
				break;
}

/* The tree is about to get its first signal: output after this may be a reaction to it. */
static void mark_signal(struct supervisor *s)
{
	struct exit_record *r = s->record;

	if (r->signalled_ms != 0 || s->job->marks_signal == 0)
		return;
	empty_pipes(s);
	r->signalled_ms = clock_ms(CLOCK_REALTIME);
	r->stdout_signalled = output_written(s->streams[0].writer);
	r->stderr_signalled = output_written(s->streams[1].writer);
}

static void end_by(struct supervisor *s, enum exit_by by)
{
	mark_signal(s);
	s->record->by = by;
	s->grace = s->job->grace_ms;
	s->cancelling = far_agent_cancel(s->job, s->dirfd);
	enter(s, ENDING);
}

/* The launcher is signalled after that: some end their agent by SIGKILL then. */
static bool is_cancelling(const struct supervisor *s)
{
	struct pollfd p = { .fd = s->cancelling, .events = POLLIN };

	return s->cancelling != -1 && poll(&p, 1, 0) == 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* begin + limit; a limit of 0 means none. An agent may have begun before this machine did: then
 * begin is below 0. */
static int64_t due(int64_t begin, int64_t limit)
{
	return limit == 0 || (begin > 0 && limit > INT64_MAX - begin) ? INT64_MAX : begin + limit;
}

/* output on stderr extends the time, where stderr counts */
static int64_t wound_up(const struct supervisor *s)
{
	return due(later(s->entered, s->last_counted), s->job->post_result_ms);
}

static bool is_drained(const struct supervisor *s)
{
	return s->streams[0].fd == -1 && s->streams[1].fd == -1;
}

/* A signal that is not ours has ended the agent, or it says so, as shells do. */
static bool is_terminated(const struct supervisor *s)
{
	int status = s->tree.main_status, number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;

	return number == SIGTERM || number == SIGHUP;
}

/* Time of the next check of the phase, whatever happens before. */
static int64_t deadline(const struct supervisor *s)
{
	switch (s->phase) {
	case RUNNING:
		return earlier(due(s->started, s->job->wall_ms), due(s->last_counted, s->job->idle_ms));
	case WINDING:
		return earlier(due(s->started, s->job->wall_ms), wound_up(s));
	case DRAINING:
		return is_drained(s) ? s->entered + TOGETHER_MS :
		    earlier(s->last_output + HELD_IDLE_MS, s->entered + HELD_HARD_MS);
	case ENDING:
		return s->grace > INT64_MAX - s->entered ? INT64_MAX : s->entered + s->grace;
	case KILLING:
		return s->now + KILL_EVERY_MS;
	case DONE:
		break;
	}
	return s->now;
}

/* Enter the next phase at the exit of the agent, SIGTERM or the wall clock limit, with or without a
 * result. Returns whether it did. */
static bool ends(struct supervisor *s)
{
	if (s->tree.main_gone) {
		s->last_output = s->now;	/* the two seconds begin with the exit */
		enter(s, DRAINING);
	} else if (s->term) {
		end_by(s, EXIT_TERM);
	} else if (s->now >= due(s->started, s->job->wall_ms)) {
		end_by(s, EXIT_WALL);
	} else {
		return false;
	}
	return true;
}

static void terminate(struct supervisor *s)
{
	mark_signal(s);
	tree_terminate(&s->tree);
}

static void kill_all(struct supervisor *s)
{
	mark_signal(s);
	tree_kill(&s->tree);
}

/* One step of the state machine above. */
static void step(struct supervisor *s)
{
	switch (s->phase) {
	case RUNNING:
		if (ends(s))
			break;
		if (s->wind_up) {
			s->stalled = false;
			enter(s, WINDING);
		} else if (s->stalled || s->now >= due(s->last_counted, s->job->idle_ms)) {
			end_by(s, EXIT_IDLE);
		}
		break;
	case WINDING:
		if (ends(s))
			break;
		if (!s->wind_up)
			enter(s, RUNNING);
		else if (s->now >= wound_up(s))
			end_by(s, EXIT_RESULT);
		break;
	case DRAINING:
		if (s->term && is_terminated(s))
			s->record->by = EXIT_TERM;
		if (s->term || s->now >= deadline(s) || (is_drained(s) && !is_terminated(s))) {
			s->grace = earlier(s->job->grace_ms, STRAY_GRACE_MS);
			enter(s, ENDING);
		}
		break;
	case ENDING:
		if (s->tree.empty)
			enter(s, DONE);
		else if (s->now >= deadline(s))
			enter(s, KILLING);
		else if (!is_cancelling(s))
			terminate(s);
		break;
	case KILLING:
		/* an agent that cannot be reaped has no known exit: keep waiting */
		if (s->tree.empty || (s->tree.main_gone && s->now >= s->entered + KILL_LIMIT_MS))
			enter(s, DONE);
		else
			kill_all(s);
		break;
	case DONE:
		break;
	}
}

/* Read one chunk. Returns false if there is none now. */
static bool pump(struct supervisor *s, struct stream *stream)
{
	ssize_t n = read(stream->fd, s->chunk, sizeof(s->chunk));

	if (n == -1 && errno == EINTR)
		return true;
	if (n == -1 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		close(stream->fd);
		stream->fd = -1;
		return false;
	}
	s->last_output = s->now;
	if (stream == &s->streams[0] || s->job->idle_stdout == 0)
		s->last_counted = s->now;
	/* its work continues, so what looked like a result was none */
	if (stream == &s->streams[0]) {
		s->last_said = s->now;
		s->wind_up = false;
	}
	/* bytes refused by a full disk are kept, see keep_output() */
	output_write(stream->writer, s->chunk, (size_t)n);
	return true;
}

/* The tree is empty, but a process outside may hold the pipes and keep writing. */
static void drain(struct supervisor *s)
{
	empty_pipes(s);
	for (int i = 0; i < 2; i++) {
		if (s->streams[i].fd != -1)
			close(s->streams[i].fd);
		s->streams[i].fd = -1;
	}
}

static void read_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (read(s->sigfd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			s->wind_up |= s->job->post_result_ms > 0 && s->now >= s->last_said + QUIET_MS;
		/* no attempt can stall for longer than it has run */
		if (info.ssi_signo == SIGUSR2)
			s->stalled |= s->phase == RUNNING && s->now >= due(s->started, s->job->idle_ms);
		if (info.ssi_signo != SIGTERM || s->term)
			continue;
		s->term = true;
		s->record->sender_pid = info.ssi_pid;
		s->record->sender_uid = info.ssi_uid;
	}
}

static void read_news(struct supervisor *s)
{
	struct agent_report report;
	ssize_t n;

	if (s->agent.report == -1)
		return;
	while ((n = read(s->agent.report, &report, sizeof(report))) == sizeof(report))
		s->report = report;
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	close(s->agent.report);
	s->agent.report = -1;
}

static void wait_for_news(const struct supervisor *s)
{
	struct pollfd fds[] = {
		{ .fd = s->sigfd, .events = POLLIN },
		{ .fd = s->agent.report, .events = POLLIN },
		{ .fd = s->streams[0].fd, .events = POLLIN },
		{ .fd = s->streams[1].fd, .events = POLLIN },
	};
	int64_t left = deadline(s) - clock_ms(CLOCK_MONOTONIC);

	poll(fds, sizeof(fds) / sizeof(fds[0]), left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left);
}

static void loop(struct supervisor *s)
{
	while (s->phase != DONE) {
		enum phase before;

		wait_for_news(s);
		s->now = clock_ms(CLOCK_MONOTONIC);
		read_news(s);
		for (int i = 0; i < 2; i++)
			if (s->streams[i].fd != -1)
				pump(s, &s->streams[i]);
		/* read signals before reaping: an agent that was dead when SIGTERM arrived ended by
		 * itself */
		read_signals(s);
		do {
			before = s->phase;
			tree_reap(&s->tree);
			step(s);
		} while (s->phase != before && s->phase != DONE);
	}
}

static void record_status(struct supervisor *s)
{
	int status = s->tree.main_status;

	s->record->sandbox = s->report.sandbox;
	if (s->report.error != 0) {
		s->record->how = EXIT_NOT_STARTED;
		s->record->status = s->report.error;
		if (s->job->names_step == 1)
			s->record->step = s->report.step;
		agent_failure_text(&s->report, s->job, s->record->error, sizeof(s->record->error));
	} else if (WIFSIGNALED(status)) {
		s->record->how = EXIT_BY_SIGNAL;
		s->record->status = WTERMSIG(status);
	} else {
		s->record->how = EXIT_BY_CODE;
		s->record->status = WEXITSTATUS(status);
	}
}

/* The last output of a paid attempt waits for space until SIGTERM arrives. An operation is repeated
 * instead. */
static void keep_output(struct supervisor *s)
{
	struct pollfd signals = { .fd = s->sigfd, .events = POLLIN };

	for (int i = 0; i < 2; i++) {
		int rv;

		if (s->streams[i].writer == NULL)
			continue;
		while ((rv = output_flush(s->streams[i].writer)) == -ENOSPC || rv == -EDQUOT) {
			if (!s->job->durable || s->term)
				break;
			poll(&signals, 1, FULL_RETRY_MS);
			read_signals(s);
		}
		output_give_up(s->streams[i].writer);
	}
}

static void record_end(struct supervisor *s)
{
	const struct output_writer *out = s->streams[0].writer, *err = s->streams[1].writer;

	s->record->ended_ms = clock_ms(CLOCK_REALTIME);
	s->record->tree_empty = s->tree.empty &&
	    (s->record->cancelled == EXIT_CANCEL_NONE || s->record->cancelled == EXIT_CANCEL_DONE);
	if (s->job->tells_limits == 1)
		own_group_tell(s->job->uuid, s->record);
	if (s->record->by != EXIT_TERM)
		s->record->sender_pid = s->record->sender_uid = 0;
	if (out == NULL || err == NULL)
		return;
	s->record->stdout_bytes = output_written(out);
	s->record->stderr_bytes = output_written(err);
	s->record->dropped = output_dropped(out) + output_dropped(err);
}

/* How long an agent has been at work for which an rl-shim was here before. One that has ended by
 * now has kept its limits there. */
static int64_t been_at_work(const struct supervisor *s)
{
	int64_t ms = s->job->began_ms != 0 ? clock_ms(CLOCK_REALTIME) - s->job->began_ms : 0;
	struct far_status far;

	if (ms <= 0)
		return 0;
	far_status_read(s->dirfd, s->job->far, s->job->uuid, &far);
	return far.found == FAR_ENDED || far.found == FAR_SIGNALLED ? 0 : ms;
}

static bool start(struct supervisor *s, int dirfd)
{
	s->streams[0].fd = s->streams[1].fd = s->agent.report = -1;
	s->streams[0].writer = output_writer_new(dirfd, RECORD_STDOUT, s->job->output_bytes);
	s->streams[1].writer = output_writer_new(dirfd, RECORD_STDERR, s->job->output_bytes);
	if (s->streams[0].writer == NULL || s->streams[1].writer == NULL) {
		s->report = (struct agent_report){ .error = ENOMEM, .step = EXIT_STEP_MEMORY };
		return false;
	}
	if (agent_start(s->job, dirfd, &s->agent, &s->report) == -1)
		return false;
	s->tree.main = s->agent.pid;
	s->streams[0].fd = s->agent.out;
	s->streams[1].fd = s->agent.err;
	s->last_output = s->last_counted = s->now = clock_ms(CLOCK_MONOTONIC);
	s->started = s->now - been_at_work(s);
	return true;
}

void supervise(const struct shim_job *job, int dirfd, int sigfd, struct exit_record *record)
{
	struct supervisor s = { .job = job, .record = record, .dirfd = dirfd, .sigfd = sigfd, .cancelling = -1,
	    .phase = RUNNING };

	*record = (struct exit_record){ .by = EXIT_OWN };
	record->started_ms = job->began_ms != 0 ? job->began_ms : clock_ms(CLOCK_REALTIME);
	if (start(&s, dirfd)) {
		loop(&s);
		drain(&s);
		read_news(&s);
	} else {
		tree_reap(&s.tree);	/* nothing was forked: waitpid says so */
	}
	record_status(&s);
	far_agent_settle(job, dirfd, record);
	keep_output(&s);
	record_end(&s);
	output_writer_free(s.streams[0].writer);
	output_writer_free(s.streams[1].writer);
}
