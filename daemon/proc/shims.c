/* SPDX-License-Identifier: MIT */
#include "proc/shims.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc/process.h"
#include "proto/memory.h"


/* Its last argument, which is the directory of its attempt; "": none. */
static void last_argument(pid_t pid, char out[PATH_MAX])
{
	char path[48], text[2 * PATH_MAX] = { 0 };
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd != -1 ? read(fd, text, sizeof(text) - 1) : 0;
	if (fd != -1)
		close(fd);
	while (n > 0 && text[n - 1] == '\0')
		n--;
	while (n > 0 && text[n - 1] != '\0')
		n--;
	strlcpy(out, text + (n > 0 ? n : 0), PATH_MAX);
}

static bool is_below(const char *path, const char *state_dir, int64_t *id)
{
	size_t length = strlen(state_dir);
	int end = 0;

	return strncmp(path, state_dir, length) == 0 &&
	    sscanf(path + length, "/attempts/%" SCNd64 "%n", id, &end) == 1 && path[length + (size_t)end] == '\0';
}

struct shim_seen *shims_find(const char *state_dir, size_t *count)
{
	DIR *proc = opendir("/proc");
	struct shim_seen *list = NULL;
	struct dirent *entry;

	*count = 0;
	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), parent;
		char name[PROCESS_NAME_MAX], path[PATH_MAX];
		int64_t id;

		if (pid <= 0 || !process_identify(pid, name, &parent) || strcmp(name, PROCESS_SHIM) != 0)
			continue;
		last_argument(pid, path);
		if (!is_below(path, state_dir, &id))
			continue;
		list = xreallocarray(list, *count + 1, sizeof(*list));
		list[(*count)++] = (struct shim_seen){ .pid = pid, .id = id };
	}
	if (proc != NULL)
		closedir(proc);
	return list;
}
