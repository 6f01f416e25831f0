/* SPDX-License-Identifier: MIT */
#include "proto/std_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void std_fds_reserve(void)
{
	/* the wrong way round, for what is not there is neither empty nor full */
	static const int modes[] = {
		[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY
	};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* open(2) gives the lowest number that is free */
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
			abort();
	}
}
