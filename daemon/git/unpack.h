/* SPDX-License-Identifier: MIT */
/* A directory of ours into which files are unpacked: nothing outside of it is touched, whatever the
 * names and links in it say. Blocking. */
#ifndef GIT_UNPACK_H
#define GIT_UNPACK_H

#include <stdbool.h>

struct unpack;

/* Would git have path in a tree? It has no "", ".", ".." or .git in it, in upper or lower case. */
bool unpack_allows(const char *path);

/* dir, absolute, is emptied, or made. Its mode is 0700. 0 or -errno: -ENOTDIR when it is a link. */
int unpack_new(const char *dir, struct unpack **unpack);
void unpack_free(struct unpack *unpack);

/* Each path once, none through a link or a file: 0 or -errno (-EEXIST, -ENOTDIR). Missing
 * directories are made. */
int unpack_directory(struct unpack *unpack, const char *path);
int unpack_link(struct unpack *unpack, const char *path, const char *text);
/* *fd: open for writing, the caller's. */
int unpack_file(struct unpack *unpack, const char *path, bool executable, int *fd);

#endif
