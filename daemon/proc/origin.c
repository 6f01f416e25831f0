/* SPDX-License-Identifier: MIT */
#include "proc/origin.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/process.h"
#include "proc/strays.h"
#include "record/layout.h"

#define SHIM_NAME "rl-shim"
#define ANCESTORS_MAX 10000
#define TRIES 20

/* What the look at a process cannot tell. */
#define UNCLEAR (-1)

/* The lock file of a shim, by its path: its arguments would be read from its memory, and could be
 * waited for. False: the path is no longer that of the file, which was moved or removed. */
static bool lock_path(pid_t pid, char path[PATH_MAX])
{
	char link[48];
	struct stat own, there;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, RECORD_LOCK_FD);
	n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
	return stat(link, &own) == 0 && lstat(path, &there) == 0 && own.st_dev == there.st_dev &&
	    own.st_ino == there.st_ino;
}

/* The attempt of a shim; 0: it is another daemon's. */
static int64_t shim_attempt(pid_t pid, const char *state_dir)
{
	char path[PATH_MAX];
	size_t length = strlen(state_dir);
	const char *name;
	int64_t id = 0;
	int end = 0;

	if (!lock_path(pid, path))
		return UNCLEAR;
	/* the state directory has no path at the moment: it may be this daemon's */
	if (length == 0)
		return UNCLEAR;
	name = strncmp(path, state_dir, length) == 0 && path[length] == '/' ? path + length :
	    strstr(path, "/attempts/");
	if (name == NULL || sscanf(name, "/attempts/%" SCNd64 "/" RECORD_LOCK "%n", &id, &end) != 1 || end == 0 ||
	    name[end] != '\0')
		return UNCLEAR;
	return name == path + length ? id : 0;
}

/* The outermost shim of this daemon: one further down may be a program of the agent's that looks
 * like it. UNCLEAR: an ancestor ended meanwhile, or is none that can be told. */
static int64_t climb(pid_t pid, const char *state_dir)
{
	char name[PROCESS_NAME_MAX];
	int64_t id = 0, its;

	for (int i = 0; pid > 1; i++) {
		pid_t at = pid;

		if (i == ANCESTORS_MAX || !process_identify(at, name, &pid))
			return UNCLEAR;
		its = strcmp(name, SHIM_NAME) == 0 ? shim_attempt(at, state_dir) : 0;
		if (its == UNCLEAR)
			return UNCLEAR;
		if (its != 0)
			id = its;
	}
	return id;
}

/* Until two looks agree: a process whose parent ends gets another parent between. */
static int64_t climb_surely(pid_t pid, const char *state_dir)
{
	int64_t id = climb(pid, state_dir), again;

	for (int i = 0; i < TRIES; i++, id = again) {
		again = climb(pid, state_dir);
		if (again == id && id != UNCLEAR)
			return id;
	}
	return UNCLEAR;
}

/* SO_PEERCRED has the process that connected: it must be alive from before the look until after it,
 * or another one may have its number. */
void origin_look(pid_t pid, const char *state_dir, struct origin *origin)
{
	int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	struct pollfd alive = { .fd = pidfd, .events = POLLIN };
	char *real = realpath(state_dir, NULL);

	*origin = (struct origin){ .unknown = true };
	if (pidfd != -1)
		origin->id = climb_surely(pid, real != NULL ? real : "");
	if (origin->id == 0 && pidfd != -1)
		process_variable(pid, STRAYS_MARK, origin->mark, sizeof(origin->mark));
	if (pidfd != -1)
		origin->unknown = origin->id == UNCLEAR || poll(&alive, 1, 0) != 0;
	if (origin->id == UNCLEAR)
		origin->id = 0;
	if (pidfd != -1)
		close(pidfd);
	free(real);
}
