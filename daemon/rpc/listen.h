/* SPDX-License-Identifier: MIT */
/* A listening Unix socket: never with a wider mode than it shall have, and removed only while it is
 * still ours. */
#ifndef RPC_LISTEN_H
#define RPC_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

struct listener;

/* open: other users can connect, mode 0666; otherwise 0600. Returns 0, or -1 with a sentence that
 * names the path and the remedy. */
int listener_open(const char *path, bool open, struct listener **out, char *error, size_t room);
void listener_set_open(struct listener *listener, bool open);
/* Of a socket at which the service manager listens: its file is never removed. */
struct listener *listener_take(int fd, const char *path);
int listener_fd(const struct listener *listener);
/* Valid as long as the listener. */
const char *listener_path(const struct listener *listener);
/* Remove the path and close. NULL is allowed. */
void listener_free(struct listener *listener);

#endif
