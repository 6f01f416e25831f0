/* SPDX-License-Identifier: MIT */
#include "proc/origin.h"

#include <errno.h>
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
#include "record/own_group.h"

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

/* What a look found. */
struct look {
	int64_t id;		/* or UNCLEAR */
	char mark[ORIGIN_MARK_MAX];	/* of a shim that is known by it alone */
};

/* The attempt of a shim by the place of its lock file; 0: that is not in the state directory. */
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

/* A shim whose lock file lies elsewhere: of another daemon, or of this one, and it has moved
 * its directory or the state directory. No agent can change the environment that its shim was
 * started with. Returns false if it cannot be read. */
static bool look_at_mark(pid_t pid, const struct origin_marks *marks, struct look *look)
{
	char mark[ORIGIN_MARK_MAX];

	if (!process_variable(pid, STRAYS_MARK, mark, sizeof(mark)))
		return false;
	if (marks->known(marks->arg, mark))
		strlcpy(look->mark, mark, sizeof(look->mark));
	return true;
}

/* The outermost shim of this daemon: one further down may be a program of the agent's that looks
 * like it. UNCLEAR: an ancestor ended meanwhile, or is none that can be told. */
static struct look climb(pid_t pid, const char *state_dir, const struct origin_marks *marks)
{
	static const struct look unclear = { .id = UNCLEAR };
	const pid_t own = getpid();
	char name[PROCESS_NAME_MAX];
	struct look look = { 0 };

	for (int i = 0; pid > 1; i++) {
		pid_t at = pid;
		int64_t its;

		if (i == ANCESTORS_MAX || !process_identify(at, name, &pid))
			return unclear;
		/* it has lost the shim between: this daemon starts nothing else */
		if (at == own && look.id == 0 && look.mark[0] == '\0')
			return unclear;
		if (strcmp(name, PROCESS_SHIM) != 0)
			continue;
		its = shim_attempt(at, state_dir);
		if (its == UNCLEAR || (its == 0 && !look_at_mark(at, marks, &look)))
			return unclear;
		if (its != 0)
			look = (struct look){ .id = its };
	}
	return look;
}

/* Until two looks agree: a process whose parent ends gets another parent between. */
static struct look climb_surely(pid_t pid, const char *state_dir, const struct origin_marks *marks)
{
	struct look look = climb(pid, state_dir, marks), again;

	for (int i = 0; i < TRIES; i++, look = again) {
		again = climb(pid, state_dir, marks);
		if (again.id == look.id && look.id != UNCLEAR && strcmp(again.mark, look.mark) == 0)
			return look;
	}
	return (struct look){ .id = UNCLEAR };
}

/* A process that lives, and has no directory in /proc: "hidepid" in proc(5). */
static bool is_hidden(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return access(path, F_OK) == -1 && errno == ENOENT;
}

/* SO_PEERCRED has the process that connected: it must be alive from before the look until after it,
 * or another one may have its number. */
void origin_look(pid_t pid, const char *state_dir, const struct origin_marks *marks, struct origin *origin)
{
	int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	struct pollfd alive = { .fd = pidfd, .events = POLLIN };
	char *real = realpath(state_dir, NULL);
	struct look look = { .id = UNCLEAR };

	*origin = (struct origin){ .unknown = true };
	if (pidfd != -1)
		look = climb_surely(pid, real != NULL ? real : "", marks);
	if (look.mark[0] != '\0')
		strlcpy(origin->mark, look.mark, sizeof(origin->mark));
	else if (look.id == 0)
		process_variable(pid, STRAYS_MARK, origin->mark, sizeof(origin->mark));
	else if (pidfd != -1)
		origin->hidden = is_hidden(pid) && poll(&alive, 1, 0) == 0;
	if (look.id != UNCLEAR) {
		origin->id = look.id;
		origin->unknown = poll(&alive, 1, 0) != 0;
	}
	if (pidfd != -1)
		close(pidfd);
	free(real);
}

bool origin_by_group(pid_t pid, char mark[ORIGIN_MARK_MAX])
{
	char path[48], line[4096], *name;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = pid > 0 ? fopen(path, "re") : NULL;
	while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		name = strstr(line, "/" ATTEMPT_GROUP);
		if (strncmp(line, "0::", 3) != 0 || name == NULL)
			continue;
		name += strlen("/" ATTEMPT_GROUP);
		name[strcspn(name, "/")] = '\0';
		found = strlcpy(mark, name, ORIGIN_MARK_MAX) < ORIGIN_MARK_MAX;
	}
	if (file != NULL)
		fclose(file);
	return found;
}
