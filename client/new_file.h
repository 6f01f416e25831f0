/* SPDX-License-Identifier: MIT */
/* Files and directories that rlctl makes for its user. */
#ifndef CLIENT_NEW_FILE_H
#define CLIENT_NEW_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Make a directory, and those above it, for this user alone. Returns 0, or -1 after a message. */
int new_directory(const char *path);

/* The first free name for a file that is replaced: PATH.old, PATH.old.2, ... The caller frees. */
char *new_file_old(const char *path);

/* Make a file: all of it or nothing is there. old: an existing one is renamed so; NULL: it stays,
 * and this fails. The mode is subject to the umask. Returns 0, or -1 after a message. */
int new_file(const char *path, const char *text, size_t size, mode_t mode, const char *old);

#endif
