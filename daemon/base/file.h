/* SPDX-License-Identifier: MIT */
/* Read and write whole small files. Blocking: off the loop only. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Read at most max bytes of dirfd/name (AT_FDCWD allowed) into a new NUL-terminated buffer. 0,
 * -EFBIG if it is larger, or -errno. Opens with O_NOFOLLOW|O_NONBLOCK; anything but a regular file
 * is -EINVAL. */
int file_read(int dirfd, const char *name, size_t max, char **data, size_t *size);

/* The same; -ESTALE if its SHA-256 is another. hash NULL: it is not known. */
int file_read_recorded(int dirfd, const char *name, size_t max, const char *hash, char **data, size_t *size);

/* Replace atomically: tmp, write, [fsync], rename, [fsync(dir)]. 0 or -errno; leaves nothing behind
 * on failure. */
int file_write(int dirfd, const char *name, const void *data, size_t size, int mode, bool durable);

/* Replace a file of the user atomically and durably: a link is followed to its target, which keeps
 * its mode. 0 or -errno. */
int file_update(const char *path, const void *data, size_t size);

/* mkdir -p, with mode for the missing ones. 0 or -errno. */
int file_mkdirs(const char *path, int mode);

/* Remove a tree without following links, as far as possible. */
void file_remove_tree(const char *path);

/* Create an empty directory: whatever exists there is removed first. 0 or -errno. */
int file_mkdir_anew(const char *path, int mode);

/* Move the file fromdir/from to dirfd/name, replacing what is there; from another file system at
 * most the first max bytes, mode 0600. 0 or -errno; on failure it is where it was. */
int file_move(int fromdir, const char *from, int dirfd, const char *name, size_t max);

/* Open the relative directory path below base; missing ones are created with mode, 0: they are not.
 * No link in path is followed, so it cannot lead outside. Returns the descriptor, or -errno
 * (-ENOTDIR at a link or a file). */
int file_open_below(const char *base, const char *path, int mode);

#endif
