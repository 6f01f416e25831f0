/* SPDX-License-Identifier: MIT */
/* Files and directories that rlctl makes for its user. */
#ifndef CLIENT_NEW_FILE_H
#define CLIENT_NEW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Make a directory, and those above it, for this user alone. Returns 0, or -1 after a message. */
int new_directory(const char *path);

/* Make a file: all of it or nothing is there, and an existing one stays, or is renamed to PATH.old
 * if replace is set. The mode is subject to the umask. Returns 0, or -1 after a message. */
int new_file(const char *path, const char *text, size_t size, mode_t mode, bool replace);

#endif
