/* SPDX-License-Identifier: MIT */
/* Whole small files, read and written in one call. Blocking: off the loop only. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Read at most max bytes of dirfd/name (AT_FDCWD allowed) into a new buffer with a NUL behind. 0,
 * -EFBIG when it is larger, or -errno. Opens with O_NOFOLLOW|O_NONBLOCK; refuses what is no regular
 * file with -EINVAL. */
int file_read(int dirfd, const char *name, size_t max, char **data, size_t *size);

/* Replace atomically: tmp, write, [fsync], rename, [fsync(dir)]. 0 or -errno; nothing is left
 * behind on failure. */
int file_write(int dirfd, const char *name, const void *data, size_t size, int mode, bool durable);

/* Replace a file of the user atomically and durably: a link is followed to its target, which keeps
 * its mode. 0 or -errno. */
int file_update(const char *path, const void *data, size_t size);

/* mkdir -p with mode for the missing ones. 0 or -errno. */
int file_mkdirs(const char *path, int mode);

/* Remove a tree, links not followed. What cannot be removed stays. */
void file_remove_tree(const char *path);

/* Make the directory, and it alone: what is there under its name is removed first. 0 or -errno. */
int file_mkdir_anew(const char *path, int mode);

/* Move a file to dirfd/name, over whatever is there; of one on another file system at most the
 * first max bytes, mode 0600. 0 or -errno; on failure it is where it was. */
int file_move(const char *from, int dirfd, const char *name, size_t max);

/* Open the directory path, relative, below base; missing ones are made with mode. No link in path
 * is followed, so it is not left however it was laid out. The descriptor, or -errno (-ENOTDIR at a
 * link or a file). */
int file_open_below(const char *base, const char *path, int mode);

#endif
