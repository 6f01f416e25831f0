/* SPDX-License-Identifier: MIT */
#include "base/inherited_socket.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/memory.h"

#define FIRST_FD 3		/* SD_LISTEN_FDS_START */
#define FDS_MAX 1000

/* Of a variable that is taken out of the environment; 0: it is not set, or no positive number. */
static int inherited_number(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long number = text != NULL ? strtol(text, &end, 10) : 0;

	if (text != NULL && (*end != '\0' || number < 0 || number > INT32_MAX))
		number = 0;
	unsetenv(name);
	return (int)number;
}

static bool has_option(int fd, int option, int wanted)
{
	int value;
	socklen_t size = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == wanted;
}

int inherited_socket_take(char **path, char *error, size_t room)
{
	int pid = inherited_number("LISTEN_PID"), count = inherited_number("LISTEN_FDS");
	struct sockaddr_un address = { 0 };
	socklen_t size = sizeof(address) - 1;

	unsetenv("LISTEN_FDNAMES");
	if (pid != getpid() || count == 0)
		return INHERITED_NONE;
	for (int i = 0; i < count && i < FDS_MAX; i++)
		(void)fcntl(FIRST_FD + i, F_SETFD, FD_CLOEXEC);
	if (count > 1) {
		snprintf(error, room, "the service manager passed %d sockets, and rld takes one: leave one "
		    "ListenStream= in the socket unit", count);
		return INHERITED_REFUSED;
	}
	if (!has_option(FIRST_FD, SO_DOMAIN, AF_UNIX) || !has_option(FIRST_FD, SO_TYPE, SOCK_STREAM) ||
	    !has_option(FIRST_FD, SO_ACCEPTCONN, 1)) {
		snprintf(error, room, "the service manager passed something other than a listening Unix stream "
		    "socket: the socket unit needs ListenStream= with a path, and no Accept=yes");
		return INHERITED_REFUSED;
	}
	if (getsockname(FIRST_FD, (struct sockaddr *)&address, &size) == -1 || address.sun_path[0] != '/') {
		snprintf(error, room, "the service manager passed a socket without a path: clients would not find "
		    "it; name an absolute path in ListenStream= of the socket unit");
		return INHERITED_REFUSED;
	}
	(void)fcntl(FIRST_FD, F_SETFL, fcntl(FIRST_FD, F_GETFL) | O_NONBLOCK);
	*path = xstrdup(address.sun_path);
	return FIRST_FD;
}
