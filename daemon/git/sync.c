/* SPDX-License-Identifier: MIT */
#include "git/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int sync_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv = 0;

	if (fd == -1 || syncfs(fd) == -1)
		rv = -errno;
	if (fd != -1)
		close(fd);
	return rv;
}
