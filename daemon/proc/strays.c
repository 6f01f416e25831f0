/* SPDX-License-Identifier: MIT */
#include "proc/strays.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "proc/origin.h"
#include "proc/process.h"
#include "proto/memory.h"

#define UUID_MAX 256		/* longest mark that carries() can find */
#define QUIET_SCANS 2		/* a single scan misses processes created during it */
#define SCANS_MAX 500
#define SCAN_PAUSE_NS 10000000	/* 10 ms, so 5 s in total */

/* Errors that prevent looking, as opposed to a process that is gone or not ours. */
static bool is_blind(void)
{
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
}

/* Whether "NUL mark NUL" occurs in the environment of the process. Reads in chunks that overlap by
 * a mark. 1, 0, or -1 if it is unreadable. */
static int carries(int procfd, const char *pid, const char *mark, size_t length)
{
	char path[64], chunk[16384];
	size_t kept = 1;	/* a NUL before the first variable */
	bool found = false;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/environ", pid);
	fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return is_blind() ? -1 : 0;
	chunk[0] = '\0';
	while (!found && (n = read(fd, chunk + kept, sizeof(chunk) - kept)) > 0) {
		size_t size = kept + (size_t)n;

		found = memmem(chunk, size, mark, length) != NULL;
		kept = size < length ? size : length - 1;
		memmove(chunk, chunk + size - kept, kept);
	}
	close(fd);
	return found;
}

/* Open a pidfd first and look second, so that the signal reaches the process that was examined. 1:
 * it was marked; 0; -1. */
static int kill_if_marked(int procfd, const char *name, const char *mark, size_t length)
{
	pid_t pid = (pid_t)strtol(name, NULL, 10);
	int pidfd, found;

	if (pid == getpid())
		return 0;
	pidfd = pidfd_open(pid, 0);
	if (pidfd == -1)
		return is_blind() ? -1 : 0;
	found = carries(procfd, name, mark, length);
	if (found == 1)
		pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
	close(pidfd);
	return found;
}

/* Number of processes found and killed, or -1 if some could not be examined. */
static int scan(const char *mark, size_t length)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int found = 0, blind = 0;

	if (proc == NULL)
		return -1;
	while ((entry = readdir(proc)) != NULL) {
		int one = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ?
			  kill_if_marked(dirfd(proc), entry->d_name, mark, length) : 0;

		found += one == 1;
		blind += one == -1;
	}
	closedir(proc);
	return blind > 0 ? -1 : found;
}

static bool is_watched(pid_t parent)
{
	char name[PROCESS_NAME_MAX];

	while (parent > 1 && process_identify(parent, name, &parent))
		if (strcmp(name, PROCESS_SHIM) == 0)
			return true;
	return false;
}

/* Of another user it is the cgroup that tells. */
static bool is_of_attempt(int procfd, const char *entry, pid_t pid)
{
	static const char mark[] = "\0" STRAYS_MARK "=";
	char group[ORIGIN_MARK_MAX];

	return agent_user()->apart ? origin_by_group(pid, group) : carries(procfd, entry, mark, sizeof(mark) - 1) == 1;
}

static bool is_stray(int procfd, const char *entry, char name[PROCESS_NAME_MAX])
{
	pid_t pid = (pid_t)strtol(entry, NULL, 10), parent;

	return pid > 0 && pid != getpid() && is_of_attempt(procfd, entry, pid) &&
	    process_identify(pid, name, &parent) && strcmp(name, PROCESS_SHIM) != 0 && !is_watched(parent);
}

void strays_each(strays_cb *each, void *arg)
{
	const struct timespec pause = { .tv_nsec = SCAN_PAUSE_NS };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char name[PROCESS_NAME_MAX];

	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		if (!is_stray(dirfd(proc), entry->d_name, name))
			continue;
		/* a process above it may have ended between two looks: a real stray is still there
		 * a moment later */
		nanosleep(&pause, NULL);
		if (is_stray(dirfd(proc), entry->d_name, name))
			each(arg, (pid_t)strtol(entry->d_name, NULL, 10), name);
	}
	if (proc != NULL)
		closedir(proc);
}

bool strays_is_shim(pid_t pid, const char *uuid)
{
	char *mark = xasprintf("%c%s=%s%c", 'x', STRAYS_MARK, uuid, 'x'), number[16], name[PROCESS_NAME_MAX];
	size_t length = strlen(mark);
	int procfd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t parent;
	bool is;

	mark[0] = mark[length - 1] = '\0';
	snprintf(number, sizeof(number), "%d", (int)pid);
	is = procfd != -1 && process_identify(pid, name, &parent) && strcmp(name, PROCESS_SHIM) == 0 &&
	    carries(procfd, number, mark, length) == 1;
	if (procfd != -1)
		close(procfd);
	free(mark);
	return is;
}

int strays_kill(const char *uuid)
{
	const struct timespec pause = { .tv_nsec = SCAN_PAUSE_NS };
	int killed = 0, quiet = 0;
	size_t length;
	char *mark;

	if (uuid == NULL || uuid[0] == '\0' || strlen(uuid) > UUID_MAX)
		return 0;
	length = strlen(uuid) + strlen(STRAYS_MARK) + 3;
	mark = xcalloc(1, length + 1);
	snprintf(mark + 1, length, "%s=%s", STRAYS_MARK, uuid);
	for (int i = 0; i < SCANS_MAX && quiet < QUIET_SCANS; i++) {
		int found = scan(mark, length);

		quiet = found == 0 ? quiet + 1 : 0;
		killed += found > 0 ? found : 0;
		if (found != 0)
			/* a killed process shows its environment until it is gone */
			nanosleep(&pause, NULL);
	}
	free(mark);
	return quiet == QUIET_SCANS ? killed : -1;
}
