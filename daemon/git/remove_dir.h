/* SPDX-License-Identifier: MIT */
/* Removal of directories of any depth and mode. Links are not followed, and what is mounted there
 * is not entered: -EXDEV. Blocking. */
#ifndef GIT_REMOVE_DIR_H
#define GIT_REMOVE_DIR_H

#include <stddef.h>

/* Remove dir with its content, or a link or file of that name. 0, also if it does not exist, or
 * -errno. */
int remove_dir(const char *dir);

/* The same, but of at most so many entries. 1: there are more. */
int remove_dir_some(const char *dir, size_t limit);

/* Remove the content of the open directory. 0 or -errno. */
int empty_dir(int root);

#endif
