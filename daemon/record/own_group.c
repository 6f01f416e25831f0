/* SPDX-License-Identifier: MIT */
#include "record/own_group.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FILE_MAX 1024	/* of a file of the kernel that is read here */

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

bool own_group(char *path, size_t room)
{
	const char *mount = mount_of_groups();
	FILE *file = mount != NULL ? fopen("/proc/self/cgroup", "re") : NULL;
	char line[PATH_MAX];
	bool found = false;

	while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		found = strncmp(line, "0::", 3) == 0 &&
		    snprintf(path, room, "%s%s", mount, line + 3) < (int)room;
	}
	if (file != NULL)
		fclose(file);
	return found;
}

int64_t group_number(const char *dir, const char *file, const char *key)
{
	char path[PATH_MAX], text[FILE_MAX], *end;
	const char *at = text;
	ssize_t size = -1;
	size_t n = key != NULL ? strlen(key) : 0;
	int64_t number;
	int fd = snprintf(path, sizeof(path), "%s/%s", dir, file) < (int)sizeof(path) ?
	    open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd != -1) {
		size = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[size > 0 ? size : 0] = '\0';
	while (key != NULL && (strncmp(at, key, n) != 0 || at[n] != ' ')) {
		at = strchr(at, '\n');
		if (at == NULL)
			return -1;
		at++;
	}
	number = strtoll(at + n, &end, 10);
	return end != at + n && number >= 0 ? number : -1;
}

void group_tell(const char *dir, struct exit_record *record)
{
	int64_t kills = group_number(dir, "memory.events", "oom_kill");
	int64_t refused = group_number(dir, "pids.events", "max");
	/* a limit further up, or the host, kills without an event of this one */
	int64_t most = group_number(dir, "memory.events", "oom") > 0 ? group_number(dir, "memory.max", NULL) : 0;

	record->memory_kills = kills > 0 ? kills : 0;
	record->memory_max = kills > 0 && most > 0 ? most : 0;
	record->refused_forks = refused > 0 ? refused : 0;
}

void own_group_tell(const char *uuid, struct exit_record *record)
{
	char path[PATH_MAX];
	const char *name = own_group(path, sizeof(path)) ? strrchr(path, '/') : NULL;
	size_t n = strlen("/" ATTEMPT_GROUP);

	if (name != NULL && strncmp(name, "/" ATTEMPT_GROUP, n) == 0 && strcmp(name + n, uuid) == 0)
		group_tell(path, record);
}
