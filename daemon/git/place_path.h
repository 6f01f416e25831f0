/* SPDX-License-Identifier: MIT */
/* Files below a directory, by their relative paths. No link on the way is followed. Blocking. */
#ifndef GIT_PLACE_PATH_H
#define GIT_PLACE_PATH_H

#include <sys/types.h>

#include "git/git_run.h"

/* The operation has failed at top/path: -1. */
int place_fail(struct git_op *op, const char *top, const char *path, const char *what);

/* The directory of top/path, open; missing ones are created. -errno. */
int place_parent(const char *top, const char *path);
/* The same where nothing is created. */
int place_existing_parent(const char *top, const char *path);
/* The last component. */
const char *place_name(const char *path);

/* A new file or link in the place of one of them. 0 or -errno. */
int place_create(int dir, const char *name, mode_t mode, int *fd);
int place_link(int dir, const char *name, const char *text);
int place_write(int fd, const char *data, size_t size);

#endif
