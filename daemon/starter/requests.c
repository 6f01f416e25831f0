/* SPDX-License-Identifier: MIT */
#include "starter/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "git/remove_dir.h"
#include "proc/start_wire.h"
#include "proc/strays.h"
#include "proto/memory.h"
#include "record/capabilities.h"
#include "record/handed_environment.h"
#include "record/layout.h"
#include "starter/attempt_group.h"

#define REQUEST_S 30		/* rld sends it at once */

/* Which ids stay those of rld. A helper acts as an agent, but no agent may stop or kill it: rld
 * waits for it. */
enum stays {
	STAYS_NOTHING,		/* an agent's process */
	STAYS_ALL,		/* rl-shim: it takes apart by itself what it is, see shim/ids.h */
	STAYS_HELPER,
	STAYS_HELPER_GROUP	/* with the group of rld, as rl-git */
};

/* Become the user of the agents, and give up the capabilities. 0 or -errno. */
static int become(const struct start_setup *setup, enum stays stays)
{
	const uint32_t kept = stays == STAYS_ALL ? 1u << CAP_SETUID | 1u << CAP_SETGID : 0;
	bool helper = stays == STAYS_HELPER || stays == STAYS_HELPER_GROUP;
	gid_t gid = stays == STAYS_HELPER_GROUP ? getegid() : setup->gid;
	uid_t other = helper ? geteuid() : setup->uid;

	if (setgroups(setup->ngroups, setup->groups) == -1)
		return -errno;
	if (stays != STAYS_ALL &&
	    (setresgid(setup->gid, gid, gid) == -1 || setresuid(other, setup->uid, other) == -1))
		return -errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ? -errno : capabilities_set(kept, kept, kept);
}

int start_may_change(const struct start_setup *setup)
{
	pid_t pid = fork();
	int status = -1, rv;

	if (pid == -1)
		return -errno;
	if (pid == 0)
		_exit(-become(setup, STAYS_NOTHING));
	do
		rv = waitpid(pid, &status, 0);
	while (rv == -1 && errno == EINTR);
	return rv == -1 ? -errno : WIFEXITED(status) ? -WEXITSTATUS(status) : -ENOMEM;
}

static void answer(int conn, int error, int64_t value, int64_t more, int fd)
{
	const struct start_answer a = { .said = START_ANSWER, .error = error, .value = value, .more = more };

	start_send(conn, &a, sizeof(a), &fd, fd != -1);
}

/* With the number of a process comes what stays its own when the number is used again. */
static int answer_process(int conn, pid_t pid)
{
	int pidfd = pidfd_open(pid, 0), rv = pidfd == -1 ? -errno : 0;

	if (rv == 0) {
		answer(conn, 0, pid, 0, pidfd);
		close(pidfd);
	}
	return rv;
}

static void serve_who(const struct start_setup *setup, int conn)
{
	answer(conn, 0, setup->uid, setup->gid, -1);
	_exit(0);
}

static void serve_limits(const struct start_setup *setup, int conn)
{
	answer(conn, 0, setup->can, 0, -1);
	_exit(0);
}

/* 0 to 2 are /dev/null, 3 is the lock, 4 the environment, and nothing else is open. All of them are
 * moved out of the way first. */
static int shim_descriptors(int lock, int environment)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	lock = fcntl(lock, F_DUPFD_CLOEXEC, RECORD_ENVIRONMENT_FD + 1);
	environment = fcntl(environment, F_DUPFD_CLOEXEC, RECORD_ENVIRONMENT_FD + 1);
	if (null == -1 || lock == -1 || environment == -1)
		return -errno;
	for (int fd = 0; fd < RECORD_LOCK_FD; fd++)
		if (dup2(null, fd) == -1)
			return -errno;
	if (dup2(lock, RECORD_LOCK_FD) == -1 || dup2(environment, RECORD_ENVIRONMENT_FD) == -1)
		return -errno;
	return 0;
}

/* As proc/spawn.c does it in rld. */
static void shim_signals(void)
{
	sigset_t blocked;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

static void limit_core(uint64_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) == -1)
		return;
	limit.rlim_cur = (rlim_t)wanted < limit.rlim_max ? (rlim_t)wanted : limit.rlim_max;
	setrlimit(RLIMIT_CORE, &limit);
}

/* This process becomes rl-shim. Once rld knows of it, an exec that fails is an exit status. */
static void serve_shim(const struct start_setup *setup, int conn, const struct start_request *request,
    char *const *words, int fds[START_FDS])
{
	char *argv[] = { (char[]){ "rl-shim" }, strings_count(words) == 2 ? words[1] : NULL,
	    xasprintf("%u", (unsigned)setup->uid), xasprintf("%u", (unsigned)setup->gid), NULL };
	char *mark, *env[2] = { NULL, NULL };
	struct pollfd there = { .fd = -1, .events = POLLIN };
	int rv;

	if (argv[1] == NULL || fds[1] == -1 || fds[2] == -1) {
		answer(conn, EINVAL, 0, 0, -1);
		_exit(EINVAL);
	}
	mark = xasprintf("%s=%s", STRAYS_MARK, words[0]);
	env[0] = mark;
	attempt_group_enter(setup->groups_at, words[0], &(struct start_limits){ (int64_t)request->memory,
	    (int64_t)request->processes }, setup->can);
	setsid();
	shim_signals();
	limit_core(request->more);
	umask((mode_t)request->number & 0777);
	rv = become(setup, STAYS_ALL);
	conn = fcntl(conn, F_DUPFD_CLOEXEC, RECORD_ENVIRONMENT_FD + 4);
	there.fd = conn;
	if (rv == 0)
		rv = conn == -1 ? -errno : shim_descriptors(fds[1], fds[2]);
	/* rld no longer waits for it */
	if (rv == 0 && poll(&there, 1, 0) == 1)
		_exit(ECANCELED);
	if (rv == 0)
		rv = answer_process(conn, getpid());
	if (rv != 0) {
		answer(conn, -rv, 0, 0, -1);
		_exit(-rv);
	}
	close_range(RECORD_ENVIRONMENT_FD + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	execve(setup->shim, argv, env);
	_exit(errno);
}

static void run_teller(char *const *words, char **env, int output)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	if (setresuid(geteuid(), geteuid(), geteuid()) == -1)
		_exit(126);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(output, STDOUT_FILENO) == -1 || dup2(null, STDIN_FILENO) == -1 || dup2(null, STDERR_FILENO) == -1)
		_exit(127);
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	execvpe(words[0], words + 1, env);
	_exit(errno == ENOENT ? 127 : 126);
}

/* The program is ended when it has exited, with what it started, or when rld has enough. */
static void serve_tell(const struct start_setup *setup, int conn, char *const *words, const int fds[START_FDS])
{
	bool whole = fds[1] != -1 && fds[2] != -1 && strings_count(words) >= 2;
	int rv = whole ? become(setup, STAYS_HELPER) : -EINVAL;
	char **env = rv == 0 ? start_words_read(fds[2]) : NULL;
	struct pollfd p[2] = { { .fd = conn, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	int status = 0;
	pid_t pid = -1;

	if (rv == 0 && env == NULL)
		rv = -errno;
	if (rv == 0 && (pid = fork()) == 0)
		run_teller(words, env, fds[1]);
	if (rv == 0 && pid == -1)
		rv = -errno;
	close(fds[1]);
	if (pid > 0)
		setpgid(pid, pid);
	if (rv == 0 && (p[1].fd = pidfd_open(pid, 0)) == -1)
		rv = -errno;
	if (rv == 0)
		rv = answer_process(conn, getpid());
	if (rv != 0) {
		if (pid > 0)
			kill(-pid, SIGKILL);
		answer(conn, -rv, 0, 0, -1);
		_exit(-rv);
	}
	while (poll(p, 2, -1) <= 0)
		;
	kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 126);
}

static void serve_kill(const struct start_setup *setup, int conn, char *const *words)
{
	int in_group = attempt_group_kill(setup->groups_at, words[0]), marked;
	int rv = become(setup, STAYS_HELPER);

	marked = rv == 0 ? strays_kill(words[0]) : 0;
	answer(conn, -rv, in_group < 0 || marked < 0 ? -1 : in_group + marked, 0, -1);
	_exit(0);
}

static void serve_remove(const struct start_setup *setup, int conn, char *const *words)
{
	int rv = become(setup, STAYS_HELPER_GROUP);

	if (rv == 0)
		rv = words[0][0] == '/' ? remove_dir(words[0]) : -EINVAL;
	answer(conn, -rv, 0, 0, -1);
	_exit(0);
}

/* 0 or -errno, which tells a fault of the host from a request that is none. */
static int take_words(int fd, char ***words)
{
	*words = fd != -1 ? start_words_read(fd) : NULL;
	return fd == -1 ? -EINVAL : *words == NULL ? -errno : **words == NULL ? -EINVAL : 0;
}

void start_serve(const struct start_setup *setup, int conn)
{
	const struct timeval limit = { .tv_sec = REQUEST_S };
	struct start_request request;
	char **words = NULL;
	int fds[START_FDS], rv;

	setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	rv = start_receive(conn, &request, sizeof(request), fds);
	if (rv == 0 && request.version != START_VERSION)
		rv = -EPROTONOSUPPORT;
	if (rv == 0 && request.kind != START_WHO && request.kind != START_LIMITS)
		rv = take_words(fds[0], &words);
	if (rv == 0 && request.kind == START_WHO)
		serve_who(setup, conn);
	if (rv == 0 && request.kind == START_LIMITS)
		serve_limits(setup, conn);
	if (rv == 0 && request.kind == START_SHIM)
		serve_shim(setup, conn, &request, words, fds);
	if (rv == 0 && request.kind == START_TELL)
		serve_tell(setup, conn, words, fds);
	if (rv == 0 && request.kind == START_KILL)
		serve_kill(setup, conn, words);
	if (rv == 0 && request.kind == START_REMOVE)
		serve_remove(setup, conn, words);
	answer(conn, rv != 0 ? -rv : ENOSYS, 0, 0, -1);
	_exit(1);
}
