/* SPDX-License-Identifier: MIT */
#include "proc/strays.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

#define UUID_MAX 256		/* what carries() can find */
#define QUIET_SCANS 2		/* one scan misses who is born during it */
#define SCANS_MAX 500
#define SCAN_PAUSE_NS 10000000	/* 10 ms, so 5 s in all */

/* Does "NUL mark NUL" occur in the environment of the process? Bounded memory, whatever its size: chunks that overlap by a mark. */
static bool carries(int procfd, const char *pid, const char *mark, size_t length)
{
	char path[64], chunk[16384];
	size_t kept = 1;	/* a NUL in front of the first variable */
	bool found = false;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/environ", pid);
	fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
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

/* A pidfd first, the look second, so that the signal goes to the process that was looked at. */
static bool kill_if_marked(int procfd, const char *name, const char *mark, size_t length)
{
	pid_t pid = (pid_t)strtol(name, NULL, 10);
	int pidfd = pid == getpid() ? -1 : pidfd_open(pid, 0);
	bool killed;

	if (pidfd == -1)
		return false;
	killed = carries(procfd, name, mark, length) && pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0;
	close(pidfd);
	return killed;
}

static int scan(const char *mark, size_t length)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int found = 0;

	if (proc == NULL)
		return 0;
	while ((entry = readdir(proc)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			found += kill_if_marked(dirfd(proc), entry->d_name, mark, length);
	closedir(proc);
	return found;
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
		killed += found;
		if (found > 0)
			nanosleep(&pause, NULL);	/* a killed process shows its environment until it is gone */
	}
	free(mark);
	return quiet == QUIET_SCANS ? killed : -1;
}
