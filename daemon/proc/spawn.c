/* SPDX-License-Identifier: MIT */
#include "proc/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc/strays.h"
#include "proto/memory.h"
#include "record/layout.h"

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

int spawn_shim(const char *shim_path, const char *dir, int lock, char *const *envp, const char *uuid, pid_t *pid)
{
	char *argv[] = { (char[]){ "rl-shim" }, (char *)dir, NULL };
	char **env = marked(envp, uuid);
	int rv = spawn(shim_path, argv, env, shim_descriptors, lock, true, pid);

	strings_free(env);
	return -rv;
}

int spawn_teller(const char *path, char *const *argv, char *const *envp, int output, pid_t *pid)
{
	return -spawn(path, argv, envp != NULL ? envp : environ, teller_descriptors, output, false, pid);
}
