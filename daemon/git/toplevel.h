/* SPDX-License-Identifier: MIT */
#ifndef GIT_TOPLEVEL_H
#define GIT_TOPLEVEL_H

/* The top of the work tree that contains dir, found by searching upwards for .git without running
 * git; *top NULL: none. malloc'd. 0, or -errno if it could not be determined. Blocking. */
int git_toplevel(const char *dir, char **top);

#endif
