/* SPDX-License-Identifier: MIT */
/* Files that the daemon opens for a client that must not reach by it what its own user may not. The
 * path is walked one name at a time, by descriptors: what was looked at is what is opened, whatever
 * links are put in its place meanwhile. Blocking. */
#ifndef BASE_PEER_FILE_H
#define BASE_PEER_FILE_H

#include <stddef.h>

#include "base/credentials.h"

/* For whom files are read, as words that outlive the call: uid and groups, then paths that are read
 * as the daemon nevertheless, because its own settings name them. NULL or none: as the daemon.
 * NULL entries of own are left out. malloc'd */
char **read_as_peer(const struct peer *peer, const char *const *own, size_t count);

/* Open path, absolute, for reading, as that peer could: a regular file or a directory. nofollow:
 * its last name must not be a link. Returns the descriptor or -errno; -EACCES: the peer may not. */
int peer_open(const struct peer *peer, const char *path, bool nofollow);

/* Like file_read(), with links followed unless nofollow, for read_as; -EACCES also if the agents,
 * when they have a user of their own, may not read it: what they are told may come from there. */
int file_read_as(char *const *read_as, const char *path, bool nofollow, size_t max, char **data, size_t *size);

#endif
