/* SPDX-License-Identifier: MIT */
#include "git/room_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 30)

/* 0 or -errno. */
static int copy_by_hand(int from, int to)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(from, chunk, sizeof(chunk))) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		for (ssize_t done = 0; done < n; ) {
			ssize_t written = write(to, chunk + done, (size_t)(n - done));

			if (written == -1 && errno != EINTR)
				return -errno;
			done += written > 0 ? written : 0;
		}
	}
	return 0;
}

/* 0 or -errno. The kernel refuses to copy between some file systems. */
static int copy_content(int from, int to)
{
	bool begun = false;
	ssize_t n;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	while ((n = copy_file_range(from, NULL, to, NULL, CHUNK, 0)) > 0)
		begun = true;
	if (n == 0 && begun)
		return 0;
	if (n == -1 && begun)
		return -errno;
	return copy_by_hand(from, to);
}

int room_copy_file(int fromdir, const char *from, int todir, const char *to, int mode)
{
	int in = openat(fromdir, from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), out, rv;

	if (in == -1)
		return -errno;
	out = openat(todir, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	rv = out == -1 ? -errno : copy_content(in, out);
	if (rv == 0 && fchmod(out, (mode_t)mode) == -1)
		rv = -errno;
	if (out != -1 && close(out) == -1 && rv == 0)
		rv = -errno;
	close(in);
	return rv;
}
