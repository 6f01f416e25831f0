/* SPDX-License-Identifier: MIT */
/* A directory of ours that is emptied and filled: nothing outside of it is touched, whatever the names and links in it
 * say. Blocking: off the loop only. */
#ifndef GIT_LAY_H
#define GIT_LAY_H

#include <stdbool.h>

struct lay;

/* Is path one that git would have in a tree? No "", ".", ".." or .git in it, in whatever case. */
bool lay_allows(const char *path);

/* dir, absolute, is made when it is not there and emptied otherwise; it is ours alone (0700). 0 or -errno: -ENOTDIR when it is a link. */
int lay_new(const char *dir, struct lay **lay);
void lay_free(struct lay *lay);

/* dir with all in it goes; a link or a file of that name as well, and not what it points to. 0, also when there is none, or -errno. */
int lay_remove(const char *dir);

/* Each path once, none through a link or a file: 0 or -errno (-EEXIST, -ENOTDIR). Missing directories are made. */
int lay_directory(struct lay *lay, const char *path);
int lay_link(struct lay *lay, const char *path, const char *text);
/* *fd: open for writing, the caller's. */
int lay_file(struct lay *lay, const char *path, bool program, int *fd);

#endif
