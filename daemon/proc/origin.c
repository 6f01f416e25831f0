/* SPDX-License-Identifier: MIT */
#include "proc/origin.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "proc/process.h"
#include "proc/strays.h"
#include "record/layout.h"

#define SHIM_NAME "rl-shim"
#define ANCESTORS_MAX 10000

/* The attempt of a shim, from the path of its lock file: its arguments would be read from its
 * memory, and could be waited for. 0: it is none of this daemon. */
static int64_t shim_attempt(pid_t pid, const char *state_dir)
{
	char path[48], lock[PATH_MAX];
	size_t length = strlen(state_dir);
	int64_t id = 0;
	ssize_t n;
	int end = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, RECORD_LOCK_FD);
	n = readlink(path, lock, sizeof(lock) - 1);
	lock[n > 0 ? n : 0] = '\0';
	if (strncmp(lock, state_dir, length) != 0 ||
	    sscanf(lock + length, "/attempts/%" SCNd64 "/" RECORD_LOCK "%n", &id, &end) != 1 ||
	    end == 0 || lock[length + (size_t)end] != '\0')
		return 0;
	return id;
}

/* The outermost shim of this daemon: one further down may be a program of the agent's that looks
 * like it. */
static int64_t climb(pid_t pid, const char *state_dir)
{
	char name[PROCESS_NAME_MAX];
	int64_t id = 0, its;

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		pid_t at = pid;

		if (!process_identify(at, name, &pid))
			break;
		its = strcmp(name, SHIM_NAME) == 0 ? shim_attempt(at, state_dir) : 0;
		if (its != 0)
			id = its;
	}
	return id;
}

/* SO_PEERCRED has the process that connected: it must be alive from before the look until after it,
 * or another one may have its number. */
void origin_look(pid_t pid, const char *state_dir, struct origin *origin)
{
	int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	struct pollfd alive = { .fd = pidfd, .events = POLLIN };

	*origin = (struct origin){ .unknown = true };
	if (pidfd == -1)
		return;
	origin->id = climb(pid, state_dir);
	if (origin->id == 0)
		process_variable(pid, STRAYS_MARK, origin->mark, sizeof(origin->mark));
	origin->unknown = poll(&alive, 1, 0) != 0;
	close(pidfd);
}
