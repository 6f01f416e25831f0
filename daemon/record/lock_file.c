/* SPDX-License-Identifier: MIT */
#include "record/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "record/layout.h"

/* An open, locked descriptor, or -errno. */
static int open_locked(int dirfd, int flags, int operation)
{
	int fd = openat(dirfd, RECORD_LOCK, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int rv;

	if (fd == -1)
		return -errno;
	if (flock(fd, operation | LOCK_NB) == -1) {
		rv = -errno;
		close(fd);
		return rv;
	}
	return fd;
}

int lock_take(int dirfd)
{
	return open_locked(dirfd, O_RDWR | O_CREAT, LOCK_EX);
}

/* Shared, so that two processes that only check do not block each other. */
int lock_held(int dirfd)
{
	int fd = open_locked(dirfd, O_RDONLY, LOCK_SH);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (fd == -EWOULDBLOCK)
		return 1;
	return fd == -ENOENT ? 0 : fd;
}
