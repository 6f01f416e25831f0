/* SPDX-License-Identifier: MIT */
/* The socket that the service manager listens at for us: socket activation, as in
 * sd_listen_fds(3). */
#ifndef BASE_INHERITED_SOCKET_H
#define BASE_INHERITED_SOCKET_H

#include <stddef.h>

#define INHERITED_NONE (-1)
#define INHERITED_REFUSED (-2)

/* Takes $LISTEN_FDS, $LISTEN_PID and $LISTEN_FDNAMES out of the environment. Returns the one
 * listening Unix stream socket, closed on exec and non-blocking, with its *path malloc'd;
 * INHERITED_NONE; or INHERITED_REFUSED with a sentence in error. Call it before anything else opens
 * files. */
int inherited_socket_take(char **path, char *error, size_t room);

#endif
