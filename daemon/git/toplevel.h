/* SPDX-License-Identifier: MIT */
#ifndef GIT_TOPLEVEL_H
#define GIT_TOPLEVEL_H

/* The top of the work tree that holds dir, found by looking for .git upwards without running git;
 * *top NULL: there is none. malloc'd. 0, or -errno when that could not be found out. Blocking. */
int git_toplevel(const char *dir, char **top);

#endif
