/* SPDX-License-Identifier: MIT */
#include "record/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool sync_is_same(const char *path, const char *other)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev;
}

int sync_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv = 0;

	if (fd == -1 || syncfs(fd) == -1)
		rv = -errno;
	if (fd != -1)
		close(fd);
	return rv;
}
