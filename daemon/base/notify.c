/* SPDX-License-Identifier: MIT */
#include "base/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "proto/memory.h"

static int notify_send(const char *path, const char *text)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length;
	int fd, rv = 0;

	if (path == NULL || path[0] == '\0')
		return 0;
	length = strlen(path);
	if (path[0] != '/' && path[0] != '@')
		return -EAFNOSUPPORT;
	if (length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0';	/* abstract: the length ends the name, not a NUL */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -errno;
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '@' ? 0 : 1))) == -1)
		rv = -errno;
	close(fd);
	return rv;
}

/* Variables are separated by newlines, so a status is a single line. */
static void add_status(struct buf *b, const char *status)
{
	buf_addf(b, "STATUS=%.*s\n", (int)strcspn(status, "\n"), status);
}

int notify_ready(const char *socket, const char *status)
{
	struct buf b = { 0 };
	int rv;

	buf_adds(&b, "READY=1\n");
	if (status != NULL)
		add_status(&b, status);
	rv = notify_send(socket, b.data);
	buf_release(&b);
	return rv;
}

int notify_reloading(const char *socket)
{
	struct timespec now;
	char text[80];

	/* the time lets the manager tell an earlier READY from the answer to this reload */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRId64 "\n",
	    (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	return notify_send(socket, text);
}

int notify_alive(const char *socket)
{
	return notify_send(socket, "WATCHDOG=1\n");
}

int notify_stopping(const char *socket)
{
	return notify_send(socket, "STOPPING=1\n");
}
