/* SPDX-License-Identifier: MIT */
#include "shim/far_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/exit_record.h"
#include "record/far_claim.h"
#include "record/far_status.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "shim/job_run.h"
#include "shim/supervisor.h"

#define WORDS_MIN 7		/* with the program */
#define COMMAND_LINE_MAX 16384
#define FULL_RETRY_S 1

struct far_side {
	const char *far;		/* name of the status file in dirfd */
	int dirfd, place;
	struct shim_job job;
};

/* To the caller. */
struct answer {
	int status;
	char words[512];
};

static struct answer refuse(const char *what, const char *why)
{
	struct answer a = { .status = FAR_REFUSED };

	snprintf(a.words, sizeof(a.words), "rl-shim: %s: %s", what, why);
	return a;
}

static struct answer gone(const char *why)
{
	struct answer a = { .status = FAR_GONE };

	snprintf(a.words, sizeof(a.words), "rl-shim: the agent is gone: %s", why);
	return a;
}

/* Whether the process that took the claim is at work: another one may have its number. */
static bool is_alive(const struct far_claim *claim, const char *uuid)
{
	static char line[COMMAND_LINE_MAX];
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)claim->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd == -1 ? 0 : read(fd, line, sizeof(line));
	if (fd != -1)
		close(fd);
	return n > 0 && memmem(line, (size_t)n, uuid, strlen(uuid)) != NULL;
}

/* As a shell has it. */
static int shell_status(const struct exit_record *record)
{
	switch (record->how) {
	case EXIT_BY_CODE:
		return record->status;
	case EXIT_BY_SIGNAL:
		return 128 + record->status;
	case EXIT_NOT_STARTED:
		break;
	}
	return 127;
}

/* The record is there, and the work and the output before it: tell. Again, if rl-shim was killed
 * before it could. */
static int tell_ended(const struct far_side *s)
{
	struct exit_record record;
	struct far_status far;
	int rv;

	far_status_read(s->dirfd, s->far, s->job.uuid, &far);
	if (far.found == FAR_ENDED || far.found == FAR_SIGNALLED)
		return 0;
	if (far.found != FAR_STARTED)
		return -EBADMSG;
	rv = exit_record_read(s->place, &record);
	return rv != 0 ? rv : far_tell_ended(s->dirfd, s->far, s->job.uuid, shell_status(&record),
	    record.by != EXIT_OWN);
}

/* The claim is taken. */
static struct answer look(const struct far_side *s, const struct far_claim *claim)
{
	char boot[BOOT_ID] = "", machine[MACHINE_ID];
	int rv;

	if (claim->by != FAR_BY_SHIM)
		return refuse(RECORD_CLAIM, "the attempt was started already, or is not to be");
	boot_id_read(boot);
	machine_id_read(machine);
	if (strcmp(claim->machine, machine) != 0 && strcmp(claim->boot, boot) != 0)
		return refuse(RECORD_CLAIM, "it was started on another machine");
	if (strcmp(claim->boot, boot) == 0 && is_alive(claim, s->job.uuid))
		return (struct answer){ 0 };
	/* only now: it may have ended until then */
	rv = tell_ended(s);
	if (rv == 0)
		return (struct answer){ 0 };
	if (host_fault(-rv))
		return refuse(s->far, strerror(-rv));
	if (rv != -ENOENT)
		return gone("its records are damaged");
	return gone(strcmp(claim->boot, boot) == 0 ? "its rl-shim was killed" : "the machine was restarted");
}

static void answer(int told, const struct answer *a)
{
	if (write(told, a, sizeof(*a)) == -1) {
		/* who called is gone, and will call again */
	}
	close(told);
}

/* The connection may break from now on. */
static void detach(void)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

/* As long as a fault of the host lasts, unless SIGTERM arrives. */
static void tell_when_possible(const struct far_side *s)
{
	sigset_t pending;

	while (host_fault(-tell_ended(s)) && sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 0)
		sleep(FULL_RETRY_S);
}

/* The record of a job that nothing keeps from its start. */
static struct answer begin(const struct far_side *s, int sigfd)
{
	struct exit_record record;
	int rv;

	if (sigfd == -1)
		return refuse("signalfd", strerror(errno));
	rv = far_claim_take(s->dirfd);
	if (rv != 0)
		return refuse(RECORD_CLAIM, strerror(-rv));
	renameat(s->dirfd, RECORD_AGAIN, s->dirfd, RECORD_START);
	if (!job_begin(s->place, &record))
		return refuse(RECORD_PLACE, record.error);
	rv = far_tell_started(s->dirfd, s->far, s->job.uuid);
	return rv != 0 ? refuse(s->far, strerror(-rv)) : (struct answer){ 0 };
}

/* In the process that stays. */
static void supervise_there(const struct far_side *s, int told)
{
	struct exit_record record;
	int sigfd = job_take_signals();
	struct answer a = begin(s, sigfd);

	answer(told, &a);
	if (a.status != 0)
		return;
	supervise(&s->job, s->place, sigfd, &record);
	if (job_leave_record(s->place, sigfd, &record, &s->job) == 0)
		tell_when_possible(s);
}

static struct answer start(const struct far_side *s)
{
	struct answer a = refuse("start", "it was killed");
	int told[2];
	pid_t pid;

	if (pipe2(told, O_CLOEXEC) == -1 || (pid = fork()) == -1)
		return refuse("start", strerror(errno));
	if (pid == 0) {
		close(told[0]);
		detach();
		supervise_there(s, told[1]);
		_exit(0);
	}
	close(told[1]);
	if (read(told[0], &a, sizeof(a)) != (ssize_t)sizeof(a))
		a = refuse("start", "it has ended before it could begin");
	close(told[0]);
	return a;
}

static bool take_number(const char *word, int64_t *out)
{
	char *end;

	*out = strtoll(word, &end, 10);
	return end != word && *end == '\0' && *out >= 0;
}

/* The caller owns what it opens, until its exit. */
static int open_place(struct far_side *s, char *far)
{
	char *slash = strrchr(far, '/');

	if (slash == NULL || slash == far)
		return -EINVAL;
	*slash = '\0';
	/* it may not be ours to list */
	s->dirfd = open(far, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	s->far = slash + 1;
	if (s->dirfd == -1)
		return -errno;
	s->place = openat(s->dirfd, RECORD_PLACE, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return s->place == -1 ? -errno : 0;
}

static struct answer run(int count, char **words)
{
	static char input[PATH_MAX], cwd[PATH_MAX];
	struct far_side s = { .job = { .durable = true, .syncs_work = 1 } };
	struct far_claim claim;
	int rv;

	if (count < WORDS_MIN || !take_number(words[3], &s.job.grace_ms) || !take_number(words[4], &s.job.wall_ms) ||
	    !take_number(words[5], &s.job.output_bytes))
		return refuse("arguments", "only a script of rld has them");
	rv = open_place(&s, words[0]);
	if (rv != 0)
		return refuse(words[0], strerror(-rv));
	snprintf(input, sizeof(input), "../%s", words[2]);
	s.job.uuid = words[1];
	s.job.input = strcmp(words[2], "-") == 0 ? NULL : input;
	s.job.argv = words + 6;
	s.job.cwd = getcwd(cwd, sizeof(cwd));
	s.job.umask = (int)umask(0);
	umask((mode_t)s.job.umask);
	if (s.job.cwd == NULL)
		return refuse("working directory", strerror(errno));
	far_claim_read(s.dirfd, &claim);
	return claim.by == FAR_NOBODY ? start(&s) : look(&s, &claim);
}

int far_shim(int count, char **words)
{
	struct answer a;

	close_range(STDERR_FILENO + 1, ~0U, 0);
	a = run(count, words);
	if (a.words[0] != '\0')
		fprintf(stderr, "%s\n", a.words);
	return a.status;
}
