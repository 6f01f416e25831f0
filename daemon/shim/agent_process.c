/* SPDX-License-Identifier: MIT */
#include "shim/agent_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/handed_environment.h"
#include "shim/confine.h"
#include "shim/follow.h"
#include "shim/ids.h"

/* out of memory, the kernel kills the agent before its shim and before the daemon */
#define OOM_STEP 300
#define OOM_MAX 1000

static void agent_failed(struct agent_report *report, enum exit_step step)
{
	report->error = errno;
	report->step = step;
}

/* Best effort: not every kernel has this file. */
static void raise_oom_score(void)
{
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	char text[16] = { 0 };
	long score;

	if (fd == -1)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0) {
		score = strtol(text, NULL, 10) + OOM_STEP;
		if (pwrite(fd, text, (size_t)snprintf(text, sizeof(text), "%ld",
		    score < OOM_MAX ? score : OOM_MAX), 0) == -1) {
			/* the score stays */
		}
	}
	close(fd);
}

/* Undo the signal handling of the shim. */
static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The environment of the agent is also in our memory: a core file with it would outlive the run.
 * Returns the previous limit. */
static rlim_t withhold_core(void)
{
	struct rlimit limit;
	rlim_t before;

	if (getrlimit(RLIMIT_CORE, &limit) == -1)
		return 0;
	before = limit.rlim_cur;
	limit.rlim_cur = 0;
	setrlimit(RLIMIT_CORE, &limit);
	return before;
}

static void restore_limits(const struct shim_job *job, rlim_t core)
{
	struct rlimit limit;

	umask((mode_t)job->umask);
	if (core != 0 && getrlimit(RLIMIT_CORE, &limit) == 0) {
		limit.rlim_cur = core;
		setrlimit(RLIMIT_CORE, &limit);
	}
	if (job->nofile == 0 || getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return;
	limit.rlim_cur = (rlim_t)job->nofile < limit.rlim_max ? (rlim_t)job->nofile : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Try confine() in a child process, because a system call filter may kill the caller. *result is 0
 * or -errno; returns -1 if it could not be tried. */
static int rehearse(const struct shim_job *job, int *result)
{
	int status, rv;
	pid_t pid = fork();

	if (pid == -1)
		return -1;
	if (pid == 0) {
		prctl(PR_SET_DUMPABLE, 0);	/* no core file */
		rv = confine(job->writable);
		_exit(rv > 0 ? 0 : -rv);
	}
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return -1;
	*result = WIFEXITED(status) ? -WEXITSTATUS(status) : -ENOSYS;
	return 0;
}

/* -1: it must not be started like this. */
static int confine_as_asked(const struct shim_job *job, int rehearsed, struct agent_report *report)
{
	int rv = rehearsed;

	if (job->sandbox == JOB_OPEN)
		return 0;
	if (rv == 0)
		rv = confine(job->writable);
	report->sandbox = rv > 0 ? rv : 0;
	if (rv > 0 || job->sandbox == JOB_TRY)
		return 0;
	errno = -rv;
	agent_failed(report, EXIT_STEP_SANDBOX);
	return -1;
}

/* Of a process that has changed its ids, the files in /proc belong to root. Nothing of the shim's
 * must be open by now. */
static void own_again(const struct shim_job *job, int told)
{
	if (job->keeps_group == 1)
		return;
	close_range(STDERR_FILENO + 1, (unsigned)told - 1, 0);
	close_range((unsigned)told + 1, ~0U, 0);
	prctl(PR_SET_DUMPABLE, 1);
}

/* argv, and word behind it. The child has no use for its memory any more. */
static char **with_word(char *const *argv, char *word)
{
	size_t count = 0;
	char **all;

	while (argv[count] != NULL)
		count++;
	all = calloc(count + 2, sizeof(*all));
	if (all == NULL)
		abort();
	memcpy(all, argv, count * sizeof(*all));
	all[count] = word;
	return all;
}

/* In the child. Returns only on failure. */
static void become(const struct shim_job *job, pid_t shim, int in, int out, int err, int told,
    int rehearsed, rlim_t core, struct agent_report *report)
{
	bool split = ids_are_split();
	char gid[16], **argv = split && job->keeps_group == 1 ? with_word(job->argv, gid) : job->argv;

	snprintf(gid, sizeof(gid), "%u", (unsigned)getgid());
	setsid();
	/* before prctl(), whose settings it resets */
	errno = -ids_become_agents(job->keeps_group);
	if (errno != 0) {
		agent_failed(report, EXIT_STEP_IDS);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != shim)
		_exit(127);	/* the shim died before prctl() took effect */
	restore_limits(job, core);
	if (dup2(in, STDIN_FILENO) == -1 || dup2(out, STDOUT_FILENO) == -1 || dup2(err, STDERR_FILENO) == -1) {
		agent_failed(report, EXIT_STEP_DUP2);
		return;
	}
	if (split)
		own_again(job, told);
	raise_oom_score();
	if (chdir(job->cwd) == -1) {
		agent_failed(report, EXIT_STEP_CHDIR);
		return;
	}
	reset_signals();
	if (confine_as_asked(job, rehearsed, report) == -1)
		return;
	if (report->sandbox > 0 && write(told, report, sizeof(*report)) == -1) {
		agent_failed(report, EXIT_STEP_PIPE);
		return;
	}
	if (job->follows != NULL)
		errno = follow(job, told);
	else
		execvp(job->argv[0], argv);
	agent_failed(report, EXIT_STEP_EXEC);
}

/* stdin of the agent. */
static int open_input(const struct shim_job *job, int dirfd)
{
	return job->input == NULL ? open("/dev/null", O_RDONLY | O_CLOEXEC)
				  : openat(dirfd, job->input, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static int make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) == -1)
		return -1;
	/* only our end: the agent's end blocks as expected */
	return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static void close_pipe(const int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] != -1)
			close(ends[i]);
}

int agent_start(const struct shim_job *job, int dirfd, struct agent *agent, struct agent_report *report)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, told[2] = { -1, -1 };
	int in = open_input(job, dirfd), rehearsed = 0, rv = -1;
	pid_t shim = getpid();
	rlim_t core = withhold_core();

	memset(report, 0, sizeof(*report));
	if (in == -1) {
		agent_failed(report, EXIT_STEP_INPUT);
		return -1;
	}
	if (make_pipe(out) == -1 || make_pipe(err) == -1 || make_pipe(told) == -1) {
		agent_failed(report, EXIT_STEP_PIPE);
		goto out;
	}
	if (job->sandbox != JOB_OPEN && rehearse(job, &rehearsed) == -1) {
		agent_failed(report, EXIT_STEP_FORK);
		goto out;
	}
	agent->pid = fork();
	if (agent->pid == -1) {
		agent_failed(report, EXIT_STEP_FORK);
		goto out;
	}
	if (agent->pid == 0) {
		become(job, shim, in, out[1], err[1], told[1], rehearsed, core, report);
		if (write(told[1], report, sizeof(*report)) == -1)
			_exit(126);
		_exit(127);
	}
	ids_settle();
	agent->out = out[0];
	agent->err = err[0];
	agent->report = told[0];
	out[0] = err[0] = told[0] = -1;
	rv = 0;
out:
	close_pipe(out);
	close_pipe(err);
	close_pipe(told);
	close(in);
	return rv;
}

void agent_failure_text(const struct agent_report *report, const struct shim_job *job, char *out, size_t room)
{
	const char *object = report->step == EXIT_STEP_EXEC ? job->argv[0] :
			     report->step == EXIT_STEP_CHDIR ? job->cwd :
			     report->step == EXIT_STEP_INPUT ? job->input : NULL;

	if (report->step == EXIT_STEP_SANDBOX)
		snprintf(out, room,
		    "sandbox: Landlock is not available (%s): set review.sandbox = \"try\" to "
		    "continue without it, or run rld on a kernel that supports it", strerror(report->error));
	else
		snprintf(out, room, "%s%s%s: %s", exit_step_name(report->step),
		    object != NULL ? " " : "", object != NULL ? object : "", strerror(report->error));
}
