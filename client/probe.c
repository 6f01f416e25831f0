/* SPDX-License-Identifier: MIT */
#include "client/probe.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/exit.h"
#include "client/message.h"
#include "client/spawn_program.h"
#include "proto/clock.h"
#include "proto/memory.h"

#define SIDE_BY_SIDE 4
#define KEPT 4096		/* bytes read of each stream */
#define FLOOD (1 << 20)		/* no version takes that much output */

enum { OUT, ERR, STREAMS };

/* A running program. */
struct live {
	struct probe *probe;		/* NULL: unused */
	pid_t pid;
	int process;			/* pidfd */
	int fds[STREAMS];		/* -1: at its end */
	char text[STREAMS][KEPT + 1];
	size_t size[STREAMS], total;
	int64_t end;
};

char *probe_version(const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		size_t length = strspn(p, "0123456789.");
		bool begins = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '.') || p[-1] == 'v';

		if (!begins || !isdigit((unsigned char)*p) || memchr(p, '.', length) == NULL)
			continue;
		if (p[length] == '-' || p[length] == '+') {
			size_t more = 1;

			while (isalnum((unsigned char)p[length + more]) ||
			    p[length + more] == '.' || p[length + more] == '-')
				more++;
			length += more > 1 ? more : 0;
		}
		while (p[length - 1] == '.')
			length--;
		return xasprintf("%.*s", (int)length, p);
	}
	return NULL;
}

enum probe_drift probe_drift(const char *a, const char *b)
{
	static const enum probe_drift kinds[] = { DRIFT_MAJOR, DRIFT_MINOR };

	if (strcmp(a, b) == 0)
		return DRIFT_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		char *a_end, *b_end;

		if (strtoll(a, &a_end, 10) != strtoll(b, &b_end, 10))
			return kinds[i];
		a = a_end + (*a_end == '.');
		b = b_end + (*b_end == '.');
	}
	return DRIFT_PATCH;
}

/* Returns false if there is no more for now. */
static bool probe_take(struct live *l, int stream)
{
	char chunk[4096];
	ssize_t n = read(l->fds[stream], chunk, sizeof(chunk));
	size_t kept = n <= 0 ? 0 : (size_t)n < KEPT - l->size[stream] ? (size_t)n : KEPT - l->size[stream];

	memcpy(l->text[stream] + l->size[stream], chunk, kept);
	l->size[stream] += kept;
	l->text[stream][l->size[stream]] = '\0';
	l->total += n > 0 ? (size_t)n : 0;
	if (n > 0 || (n == -1 && (errno == EAGAIN || errno == EINTR)))
		return n > 0;
	close(l->fds[stream]);
	l->fds[stream] = -1;
	return false;
}

/* The first non-blank line. */
static char *first_line(const char *text)
{
	text += strspn(text, " \t\r\n");
	return xasprintf("%.*s", (int)strcspn(text, "\r\n"), text);
}

/* The process has ended, or must: kill its whole group. */
static void probe_finish(struct live *l, enum probe_result result)
{
	struct probe *probe = l->probe;
	int status = 0;

	/* its pid is not reused before it has been waited for */
	kill(-l->pid, SIGKILL);
	kill(l->pid, SIGKILL);
	while (waitpid(l->pid, &status, 0) == -1 && errno == EINTR)
		;
	for (int i = 0; i < STREAMS; i++) {
		while (l->fds[i] != -1 && l->total < FLOOD && probe_take(l, i))
			;
		if (l->fds[i] != -1)
			close(l->fds[i]);
	}
	close(l->process);
	probe->result = result != PROBE_ANSWERED ? result
	    : WIFSIGNALED(status)                ? PROBE_KILLED
	    : WEXITSTATUS(status) != 0           ? PROBE_FAILED
	                                         : result;
	probe->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	probe->line = first_line(l->text[l->text[OUT][strspn(l->text[OUT], " \t\r\n")] != '\0' ? OUT : ERR]);
	probe->version = probe_version(l->text[OUT]);
	if (probe->version == NULL)
		probe->version = probe_version(l->text[ERR]);
	l->probe = NULL;
}

static void not_started(struct probe *probe, int failure)
{
	probe->result = PROBE_NOT_STARTED;
	probe->status = failure;
	probe->line = xstrdup("");
	probe->version = NULL;
}

static void probe_begin(struct live *l, struct probe *probe, int64_t ms)
{
	int pipes[STREAMS][2], failure;

	for (int i = 0; i < STREAMS; i++) {
		if (pipe2(pipes[i], O_CLOEXEC) == -1)
			message_die("pipe");
		fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
	}
	failure = start_version(probe->path, probe->environment, pipes[OUT][1], pipes[ERR][1], &l->pid);
	for (int i = 0; i < STREAMS; i++) {
		close(pipes[i][1]);
		l->fds[i] = pipes[i][0];
		l->size[i] = 0;
		l->text[i][0] = '\0';
		if (failure != 0)
			close(pipes[i][0]);
	}
	if (failure != 0) {
		not_started(probe, failure);
		return;
	}
	l->process = (int)syscall(SYS_pidfd_open, l->pid, 0);
	if (l->process == -1)
		message_die("pidfd_open");
	l->probe = probe;
	l->total = 0;
	l->end = clock_steady() + ms;
}

/* Check how far it is. */
static void probe_inspect(struct live *l)
{
	struct pollfd ended = { .fd = l->process, .events = POLLIN };
	bool gone = poll(&ended, 1, 0) == 1;

	for (int i = 0; i < STREAMS; i++)
		while (l->fds[i] != -1 && l->total < FLOOD && probe_take(l, i))
			;
	if (l->total >= FLOOD)
		probe_finish(l, PROBE_FLOODS);
	else if (gone)
		probe_finish(l, PROBE_ANSWERED);
	else if (clock_steady() >= l->end)
		probe_finish(l, PROBE_LATE);
}

/* Wait until one of them produces output, or its time is up. */
static void probe_await(const struct live *lives, int signals)
{
	struct pollfd p[SIDE_BY_SIDE * (STREAMS + 1) + 1];
	int64_t first = INT64_MAX, left;
	nfds_t count = 0;

	for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
		const struct live *l = &lives[i];

		if (l->probe == NULL)
			continue;
		p[count++] = (struct pollfd){ .fd = l->process, .events = POLLIN };
		for (int k = 0; k < STREAMS; k++)
			p[count++] = (struct pollfd){ .fd = l->fds[k], .events = POLLIN };
		if (l->end < first)
			first = l->end;
	}
	p[count++] = (struct pollfd){ .fd = signals, .events = POLLIN };
	left = first - clock_steady();
	poll(p, count, left < 0 ? 0 : left > 60000 ? 60000 : (int)left);
}

/* A signal that ends rlctl: the programs are in separate process groups, so Ctrl-C does not reach
 * them. */
static void take_signal(struct live *lives, int signals, const sigset_t *before)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	for (size_t i = 0; i < SIDE_BY_SIDE; i++)
		if (lives[i].probe != NULL)
			probe_finish(&lives[i], PROBE_LATE);
	sigprocmask(SIG_SETMASK, before, NULL);
	raise((int)info.ssi_signo);
}

void probe_run(struct probe *probes, size_t count, int64_t ms)
{
	struct live *lives = xreallocarray(NULL, SIDE_BY_SIDE, sizeof(*lives));
	sigset_t ending, before;
	size_t next = 0, running;
	int signals;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, &before);
	signals = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
	for (size_t i = 0; i < SIDE_BY_SIDE; i++)
		lives[i].probe = NULL;
	do {
		running = 0;
		for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
			if (lives[i].probe != NULL)
				probe_inspect(&lives[i]);
			while (lives[i].probe == NULL && next < count)
				probe_begin(&lives[i], &probes[next++], ms);
			running += lives[i].probe != NULL;
		}
		if (running > 0)
			probe_await(lives, signals);
		take_signal(lives, signals, &before);
	} while (running > 0);
	close(signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(lives);
}

void probe_release(struct probe *probe)
{
	free(probe->line);
	free(probe->version);
}
