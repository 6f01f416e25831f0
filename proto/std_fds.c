/* SPDX-License-Identifier: MIT */
#include "proto/std_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void std_fds_reserve(void)
{
	/* the opposite direction, so that using a missing stream fails */
	static const int modes[] = {
		[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY
	};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* open(2) returns the lowest free number */
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
			abort();
	}
}
