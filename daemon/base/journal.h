/* SPDX-License-Identifier: MIT */
/* The journal of systemd by its own protocol: a line has fields there, by which it is found. */
#ifndef BASE_JOURNAL_H
#define BASE_JOURNAL_H

#include <stdint.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* A socket of the journal at path, if stream, the value of JOURNAL_STREAM or NULL, names what fd
 * is. -1: it is not the journal, or cannot be reached. */
int journal_open(const char *stream, int fd, const char *path);

/* A message without newlines. priority as in syslog(3); run, attempt: 0 for none. Never waits.
 * 0, or -errno: it must be told in another way. */
int journal_send(int journal, int priority, const char *message, int64_t run, int64_t attempt);

#endif
