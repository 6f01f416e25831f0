/* SPDX-License-Identifier: MIT */
#include "git/place_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "proto/escape.h"

int place_fail(struct git_op *op, const char *top, const char *path, const char *what)
{
	char *shown = text_escape(path, strlen(path), false);

	git_fail(op, xasprintf("%s/%s: %s", top, shown, what));
	free(shown);
	return -1;
}

int place_parent(const char *top, const char *path)
{
	const char *last = strrchr(path, '/');
	char *dir = last != NULL ? xmemdup0(path, (size_t)(last - path)) : NULL;
	int fd = dir != NULL ? file_open_below(top, dir, 0755) : open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir == NULL && fd == -1)
		fd = -errno;
	free(dir);
	return fd;
}

int place_existing_parent(const char *top, const char *path)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (const char *p = path, *end; fd != -1 && (end = strchr(p, '/')) != NULL; p = end + 1) {
		char *name = xmemdup0(p, (size_t)(end - p));
		int next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error = errno;

		close(fd);
		fd = next;
		errno = error;
		free(name);
	}
	return fd != -1 ? fd : -errno;
}

const char *place_name(const char *path)
{
	const char *last = strrchr(path, '/');

	return last != NULL ? last + 1 : path;
}

int place_write(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n == -1 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int place_create(int dir, const char *name, mode_t mode, int *fd)
{
	if (unlinkat(dir, name, 0) == -1 && errno != ENOENT)
		return -errno;
	*fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return *fd != -1 ? 0 : -errno;
}

int place_link(int dir, const char *name, const char *text)
{
	if (unlinkat(dir, name, 0) == -1 && errno != ENOENT)
		return -errno;
	return symlinkat(text, dir, name) == 0 ? 0 : -errno;
}
