/* SPDX-License-Identifier: MIT */
/* A directory of ours for unpacked files: nothing outside of it is changed, whatever names and
 * links say. Blocking. */
#ifndef GIT_UNPACK_H
#define GIT_UNPACK_H

#include <stdbool.h>

struct unpack;

/* Whether git allows path in a tree: without "", ".", ".." and .git, in upper or lower case. */
bool unpack_allows(const char *path);

/* dir, absolute, is emptied, or created. Its mode is 0700. 0 or -errno: -ENOTDIR if it is a
 * link. */
int unpack_new(const char *dir, struct unpack **unpack);
void unpack_free(struct unpack *unpack);

/* The same without emptying it: it must exist. */
int unpack_open(const char *dir, struct unpack **unpack);

/* What is at path, for openat() and the like: its directory, which stays open until the next call,
 * and *name in it. 0; -errno: a part of path is missing (-ENOENT), or a link or file (-ENOTDIR). */
int unpack_find(struct unpack *unpack, const char *path, int *at, const char **name);

/* Each path once, none through a link or a file: 0 or -errno (-EEXIST, -ENOTDIR). Missing
 * directories are created. */
int unpack_directory(struct unpack *unpack, const char *path);
int unpack_link(struct unpack *unpack, const char *path, const char *text);
/* name of the directory from, where it is no longer. */
int unpack_move(struct unpack *unpack, const char *path, int from, const char *name);
/* *fd: open for writing, owned by the caller. */
int unpack_file(struct unpack *unpack, const char *path, bool executable, int *fd);

#endif
