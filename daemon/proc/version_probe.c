/* SPDX-License-Identifier: MIT */
#include "proc/version_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/spawn.h"
#include "proto/clock.h"

/* Read what is there: keep the beginning, discard the rest. Returns false at the end. */
static bool version_probe_read(int fd, char *text, size_t room, size_t *size)
{
	char chunk[4096];
	ssize_t n = read(fd, chunk, sizeof(chunk));
	size_t kept = n <= 0 ? 0 : (size_t)n < room - 1 - *size ? (size_t)n : room - 1 - *size;

	memcpy(text + *size, chunk, kept);
	*size += kept;
	text[*size] = '\0';
	return n > 0 || (n == -1 && (errno == EAGAIN || errno == EINTR));
}

/* Until the process has ended: a descendant that keeps the pipe open is ignored. */
static int watch(int process, int output, int64_t ms, char *text, size_t room)
{
	int64_t end = clock_steady() + ms, left;
	struct pollfd p[] = { { .fd = process, .events = POLLIN }, { .fd = output, .events = POLLIN } };
	size_t size = 0;

	while ((left = end - clock_steady()) > 0) {
		if (poll(p, 2, (int)left) == -1 && errno != EINTR)
			return -errno;
		if (p[1].revents != 0 && !version_probe_read(output, text, room, &size))
			p[1].fd = -1;
		if (p[0].revents != 0) {
			version_probe_read(output, text, room, &size);
			return 0;
		}
	}
	return -ETIMEDOUT;
}

int version_probe_text(const char *path, char *const *argv, char *const *envp, int64_t ms, char *text, size_t room)
{
	struct spawned teller;
	int ends[2], rv, status = 0;

	text[0] = '\0';
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == -1)
		return -errno;
	fcntl(ends[1], F_SETFL, 0);	/* the program's end blocks, as programs expect */
	rv = spawn_teller(path, argv, envp, ends[1], &teller);
	close(ends[1]);
	if (rv == 0) {
		rv = teller.pidfd == -1 ? -EMFILE : watch(teller.pidfd, ends[0], ms, text, room);
		status = spawn_teller_end(&teller);
	}
	close(ends[0]);
	return rv == 0 && (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) ? -ENOMSG : rv;
}

int version_probe_run(const char *path, char *const *argv, char *const *envp, int64_t ms, char *line, size_t room)
{
	int rv = version_probe_text(path, argv, envp, ms, line, room);

	line[strcspn(line, "\r\n")] = '\0';
	return rv;
}

int version_probe(const char *path, char *line, size_t room)
{
	char *argv[] = { (char *)path, (char[]){ "--version" }, NULL };
	int rv = version_probe_run(path, argv, NULL, VERSION_PROBE_MS, line, room);

	return rv == 0 && line[0] == '\0' ? -ENOMSG : rv;
}
