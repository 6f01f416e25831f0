/* SPDX-License-Identifier: MIT */
/* rate A B REQUEST PAIRS MS: sends REQUEST to the sockets A and B in turn, for MS milliseconds
 * each, one at a time, PAIRS times, on one connection each. Prints the answers per second, a line
 * "A B" for each pair. */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define WARM_MS 20

static char answer[1 << 20];

static int dial(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = 10 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		errx(1, "%s: too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (fd == -1 || connect(fd, (struct sockaddr *)&address, sizeof(address)) == -1 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == -1)
		err(1, "%s", path);
	return fd;
}

/* The size of the answer, its LF included. */
static size_t ask(int fd, const char *request, size_t size)
{
	size_t have = 0;
	ssize_t n;

	if (write(fd, request, size) != (ssize_t)size)
		err(1, "request");
	do {
		n = read(fd, answer + have, sizeof(answer) - have);
		if (n <= 0)
			err(1, "answer");
		have += (size_t)n;
	} while (answer[have - 1] != '\n');
	return have;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double rate(int fd, const char *request, size_t size, double seconds)
{
	double begin = now(), at;
	unsigned long count = 0;

	do {
		ask(fd, request, size);
		count++;
		at = now();
	} while (at - begin < seconds);
	return (double)count / (at - begin);
}

int main(int argc, char **argv)
{
	char request[4096];
	size_t size;
	double seconds;
	int fds[2];

	if (argc != 6 || strlen(argv[3]) + 1 >= sizeof(request))
		errx(2, "usage: rate A B REQUEST PAIRS MS");
	size = (size_t)snprintf(request, sizeof(request), "%s\n", argv[3]);
	seconds = (double)strtol(argv[5], NULL, 10) / 1000;
	for (int i = 0; i < 2; i++) {
		fds[i] = dial(argv[1 + i]);
		if (memmem(answer, ask(fds[i], request, size), "\"result\"", 8) == NULL)
			errx(1, "%s answers with an error", argv[1 + i]);
		rate(fds[i], request, size, WARM_MS / 1e3);
	}
	for (long pairs = strtol(argv[4], NULL, 10); pairs > 0; pairs--) {
		double a = rate(fds[0], request, size, seconds);

		printf("%.1f %.1f\n", a, rate(fds[1], request, size, seconds));
	}
	return 0;
}
