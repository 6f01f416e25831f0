/* SPDX-License-Identifier: MIT */
/* A listening Unix socket: mode 0600 from the start, and removed only while it is still ours. */
#ifndef RPC_LISTEN_H
#define RPC_LISTEN_H

#include <stddef.h>

struct listener;

/* Returns 0, or -1 with a sentence that names the path and the remedy. */
int listener_open(const char *path, struct listener **out, char *error, size_t room);
int listener_fd(const struct listener *listener);
/* Valid as long as the listener. */
const char *listener_path(const struct listener *listener);
/* Remove the path and close. NULL is allowed. */
void listener_free(struct listener *listener);

#endif
