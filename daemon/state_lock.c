/* SPDX-License-Identifier: MIT */
#include "state_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/log.h"

static void on_alarm(int signal)
{
	(void)signal;	/* only interrupts flock */
}

/* The pid in the lock file, as text. */
static void read_holder(int fd, char holder[32])
{
	ssize_t n = pread(fd, holder, 31, 0);

	holder[n > 0 ? (size_t)n : 0] = '\0';
	holder[strcspn(holder, "\n")] = '\0';
	if (holder[0] == '\0')
		snprintf(holder, 32, "unknown");
}

/* 0, or -errno; -EINTR: the time is over. */
static int lock_within(int fd, const char *path, unsigned seconds)
{
	struct sigaction sa = { .sa_handler = on_alarm }, old;
	char holder[32];
	int rv;

	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK) {
		read_holder(fd, holder);
		log_info("%s is locked by another rld (pid %s): waiting up to %u s for it to exit",
		    path, holder, seconds);
	}
	sigemptyset(&sa.sa_mask);
	sigaction(SIGALRM, &sa, &old);
	alarm(seconds);
	rv = flock(fd, LOCK_EX) == 0 ? 0 : -errno;
	alarm(0);
	sigaction(SIGALRM, &old, NULL);
	return rv;
}

int state_lock_take(const char *state_dir, char *error, size_t room)
{
	char path[PATH_MAX], holder[32] = "";
	ssize_t n;
	int fd, rv;

	snprintf(path, sizeof(path), "%s/lock", state_dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd == -1) {
		snprintf(error, room, "%s: %s", path, strerror(errno));
		return -1;
	}
	rv = lock_within(fd, path, LOCK_WAIT_S);
	if (rv != 0) {
		read_holder(fd, holder);
		if (rv == -EINTR)
			snprintf(error, room,
			    "%s is locked by another rld (pid %s); stop that one, or use another "
			    "--state-dir", path, holder);
		else
			snprintf(error, room, "%s: %s", path, strerror(-rv));
		close(fd);
		return -1;
	}
	n = snprintf(holder, sizeof(holder), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) == -1 || pwrite(fd, holder, (size_t)n, 0) != n) {
		snprintf(error, room, "%s: %s", path, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}
