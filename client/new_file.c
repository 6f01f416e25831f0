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

char *new_file_old(const char *path)
{
	char *old = xasprintf("%s.old", path);
	struct stat st;

	for (int n = 2; lstat(old, &st) == 0; n++) {
		free(old);
		old = xasprintf("%s.old.%d", path, n);
	}
	return old;
}

static int rename_new(const char *from, const char *to)
{
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

/* Give it its name. Neither rename replaces anything, so no file is lost. */
static int new_file_place(const char *temporary, const char *path, const char *old)
{
	if (old != NULL && rename_new(path, old) == -1 && errno != ENOENT)
		return -1;
	return rename_new(temporary, path);
}

int new_file(const char *path, const char *text, size_t size, mode_t mode, const char *old)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC), failed = fd == -1;
	mode_t mask = umask(0);

	umask(mask);
	failed = failed || fchmod(fd, mode & ~mask) == -1 || write_all(fd, text, size) == -1 ||
	    new_file_place(temporary, path, old) == -1;
	if (failed)
		message_errno("cannot write %s", path);
	if (failed && fd != -1)
		unlink(temporary);
	if (fd != -1)
		close(fd);
	free(temporary);
	return failed ? -1 : 0;
}
