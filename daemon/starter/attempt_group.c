/* SPDX-License-Identifier: MIT */
#include "starter/attempt_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "proc/origin.h"
#include "proto/memory.h"

#define KILL_TRIES 300
#define KILL_PAUSE_NS 10000000	/* 10 ms, so 3 s in total */

/* Where the hierarchy of version 2 is mounted: alone, or beside those of version 1. */
static const char *mount_of_groups(void)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs fs;

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++)
		if (statfs(mounts[i], &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
			return mounts[i];
	return NULL;
}

char *attempt_groups_find(void)
{
	const char *mount = mount_of_groups();
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[4096], *at = NULL;

	while (file != NULL && mount != NULL && at == NULL && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::", 3) == 0)
			at = xasprintf("%s%s", mount, line + 3);
	}
	if (file != NULL)
		fclose(file);
	if (at != NULL && access(at, W_OK | X_OK) == 0)
		return at;
	free(at);
	return NULL;
}

static bool put(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd != -1)
		close(fd);
	free(path);
	return done;
}

void attempt_group_enter(const char *groups_at, const char *uuid)
{
	char *dir;

	if (groups_at == NULL)
		return;
	dir = xasprintf("%s/" ORIGIN_GROUP "%s", groups_at, uuid);
	if (mkdir(dir, 0755) == -1 && errno != EEXIST)
		fprintf(stderr, "rl-start: %s: %s\n", dir, strerror(errno));
	else if (!put(dir, "cgroup.procs", "0"))
		fprintf(stderr, "rl-start: %s/cgroup.procs: %s\n", dir, strerror(errno));
	free(dir);
}

/* "populated 0" or "populated 1"; false: there is no such group. */
static bool is_populated(const char *dir)
{
	char *path = xasprintf("%s/cgroup.events", dir), text[256] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool populated = fd != -1 && read(fd, text, sizeof(text) - 1) > 0 && strstr(text, "populated 1") != NULL;

	if (fd != -1)
		close(fd);
	free(path);
	return populated;
}

int attempt_group_kill(const char *groups_at, const char *uuid)
{
	const struct timespec pause = { .tv_nsec = KILL_PAUSE_NS };
	char *dir;
	int found;

	if (groups_at == NULL)
		return 0;
	dir = xasprintf("%s/" ORIGIN_GROUP "%s", groups_at, uuid);
	found = is_populated(dir);
	for (int i = 0; is_populated(dir) && i < KILL_TRIES; i++) {
		put(dir, "cgroup.kill", "1");
		nanosleep(&pause, NULL);
	}
	if (is_populated(dir))
		found = -1;
	else
		rmdir(dir);
	free(dir);
	return found;
}

void attempt_groups_tidy(const char *groups_at)
{
	DIR *dir = groups_at != NULL ? opendir(groups_at) : NULL;
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (strncmp(entry->d_name, ORIGIN_GROUP, strlen(ORIGIN_GROUP)) == 0)
			/* only an empty one */
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	if (dir != NULL)
		closedir(dir);
}
