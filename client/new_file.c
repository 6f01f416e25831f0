/* SPDX-License-Identifier: MIT */
#include "client/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/message.h"
#include "proto/memory.h"

int new_directory(const char *path)
{
	char *copy = xstrdup(path);
	int failed = 0;

	for (char *p = strchr(copy + 1, '/');; p = strchr(p + 1, '/')) {
		if (p != NULL)
			*p = '\0';
		failed = mkdir(copy, 0700) == -1 && errno != EEXIST;
		if (failed || p == NULL)
			break;
		*p = '/';
	}
	if (failed)
		message_errno("cannot create %s", path);
	free(copy);
	return failed ? -1 : 0;
}

static int write_all(int fd, const char *text, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, text, size);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		text += n;
		size -= (size_t)n;
	}
	return fsync(fd);
}

/* Give it its name. */
static int new_file_place(const char *temporary, const char *path, bool replace)
{
	char *old = xasprintf("%s.old", path);
	int failed = replace && rename(path, old) == -1 && errno != ENOENT;

	failed = failed || renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == -1;
	free(old);
	return failed ? -1 : 0;
}

int new_file(const char *path, const char *text, size_t size, mode_t mode, bool replace)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC), failed = fd == -1;
	mode_t mask = umask(0);

	umask(mask);
	failed = failed || fchmod(fd, mode & ~mask) == -1 || write_all(fd, text, size) == -1 ||
	    new_file_place(temporary, path, replace) == -1;
	if (failed)
		message_errno("cannot write %s", path);
	if (failed && fd != -1)
		unlink(temporary);
	if (fd != -1)
		close(fd);
	free(temporary);
	return failed ? -1 : 0;
}
