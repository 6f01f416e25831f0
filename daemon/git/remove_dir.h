/* SPDX-License-Identifier: MIT */
/* Removal of directories, however deep and whatever their modes. Links are not followed.
 * Blocking. */
#ifndef GIT_REMOVE_DIR_H
#define GIT_REMOVE_DIR_H

/* Remove dir with its contents, or a link or file of that name. 0, also when there is none, or
 * -errno. */
int remove_dir(const char *dir);

/* Remove what is in the open directory. 0 or -errno. */
int empty_dir(int root);

#endif
