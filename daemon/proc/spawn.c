/* SPDX-License-Identifier: MIT */
#include "proc/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/strays.h"
#include "proto/memory.h"
#include "record/layout.h"

#define ENDED_MS 5000		/* rl-start says it in a moment */

/* move the lock first: it may have one of the numbers below */
static int shim_descriptors(posix_spawn_file_actions_t *actions, int lock)
{
	int rv = posix_spawn_file_actions_adddup2(actions, lock, RECORD_LOCK_FD);

	for (int fd = 0; rv == 0 && fd < RECORD_LOCK_FD; fd++)
		rv = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
	if (rv == 0)
		rv = posix_spawn_file_actions_addclosefrom_np(actions, RECORD_LOCK_FD + 1);
	return rv;
}

/* SIGTERM, SIGUSR1 and SIGUSR2 stay blocked until the shim reads them from a descriptor: so none is
 * lost, and none ends it. */
static int attributes(posix_spawnattr_t *attr, bool shim)
{
	sigset_t all, blocked;
	int rv;

	sigfillset(&all);
	sigemptyset(&blocked);
	if (shim) {
		sigaddset(&blocked, SIGTERM);
		sigaddset(&blocked, SIGUSR1);
		sigaddset(&blocked, SIGUSR2);
	}
	rv = posix_spawnattr_setsigdefault(attr, &all);
	if (rv == 0)
		rv = posix_spawnattr_setsigmask(attr, &blocked);
	if (rv == 0)
		rv = posix_spawnattr_setflags(attr,
		    POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	return rv;
}

/* Likewise without a lock, and with a pipe for its output. */
static int teller_descriptors(posix_spawn_file_actions_t *actions, int output)
{
	int rv = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);

	if (rv == 0)
		rv = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (rv == 0)
		rv = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (rv == 0)
		rv = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
	return rv;
}

/* Add the mark of the whole tree, including the shim. */
static char **marked(char *const *envp, const char *uuid)
{
	char **copy = envp != NULL ? strings_copy(envp) : xcalloc(1, sizeof(*copy));
	char *mark = xasprintf("%s=%s", STRAYS_MARK, uuid);

	for (char **p = copy; *p != NULL; p++)
		if (strcmp(*p, mark) == 0)
			goto out;
	strings_append(&copy, mark);
out:
	free(mark);
	return copy;
}

/* put: sets up the descriptors of the process, from fd. Returns 0 or a positive errno. */
static int spawn(const char *path, char *const *argv, char *const *envp,
    int (*put)(posix_spawn_file_actions_t *actions, int fd), int fd, bool shim, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rv;

	rv = posix_spawn_file_actions_init(&actions);
	if (rv != 0)
		return rv;
	rv = posix_spawnattr_init(&attr);
	if (rv != 0)
		goto out_actions;
	rv = put(&actions, fd);
	if (rv == 0)
		rv = attributes(&attr, shim);
	if (rv == 0)
		rv = posix_spawn(pid, path, &actions, &attr, argv, envp);
	posix_spawnattr_destroy(&attr);
out_actions:
	posix_spawn_file_actions_destroy(&actions);
	return rv;
}

/* rld writes no core file, but its children may, and the limit is inherited. */
static int spawn_own_shim(const char *shim_path, const char *dir, int lock, char *const *env, rlim_t core, pid_t *pid)
{
	char *argv[] = { (char[]){ "rl-shim" }, (char *)dir, NULL };
	struct rlimit own;
	bool known = getrlimit(RLIMIT_CORE, &own) == 0;
	int rv;

	if (known)
		setrlimit(RLIMIT_CORE, &(struct rlimit){ core < own.rlim_max ? core : own.rlim_max, own.rlim_max });
	rv = spawn(shim_path, argv, env, shim_descriptors, lock, true, pid);
	if (known)
		setrlimit(RLIMIT_CORE, &own);
	return -rv;
}

int spawn_shim(const char *shim_path, const char *dir, int lock, char *const *envp, const char *uuid, rlim_t core,
    const struct start_limits *limits, struct spawned *out)
{
	char **env = marked(envp, uuid);
	int rv;

	*out = (struct spawned){ .pidfd = -1, .conn = -1 };
	if (starter_used()) {
		rv = starter_shim(dir, uuid, lock, env, core, limits, out);
	} else {
		rv = spawn_own_shim(shim_path, dir, lock, env, core, &out->pid);
		if (rv == 0)
			out->pidfd = pidfd_open(out->pid, 0);
	}
	strings_free(env);
	return rv;
}

int spawn_teller(const char *path, char *const *argv, char *const *envp, int output, struct spawned *out)
{
	int rv;

	*out = (struct spawned){ .pidfd = -1, .conn = -1 };
	if (starter_used())
		return starter_tell(path, argv, envp != NULL ? envp : environ, output, out);
	rv = -spawn(path, argv, envp != NULL ? envp : environ, teller_descriptors, output, false, &out->pid);
	if (rv == 0)
		out->pidfd = pidfd_open(out->pid, 0);
	return rv;
}

int spawn_teller_end(struct spawned *teller)
{
	int status = -1;

	if (teller->conn != -1) {
		shutdown(teller->conn, SHUT_WR);	/* rl-start ends it */
		status = starter_status(teller->conn, ENDED_MS);
		close(teller->conn);
		status = status == -EAGAIN ? -1 : status;
	} else {
		kill(-teller->pid, SIGKILL);	/* not reaped yet, so its group id is not reused */
		while (waitpid(teller->pid, &status, 0) == -1 && errno == EINTR)
			;
	}
	if (teller->pidfd != -1)
		close(teller->pidfd);
	return status;
}
