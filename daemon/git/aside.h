/* SPDX-License-Identifier: MIT */
/* Moves files and whole directories from one tree to another, across file systems too. Blocking: off the loop only. */
#ifndef GIT_ASIDE_H
#define GIT_ASIDE_H

/* from/path becomes to/path; missing directories of to are made. A path that is gone already is fine. 0 or -errno. */
int aside_move(int from, int to, const char *path);

/* The same by copying and removing, as it is done when a rename is impossible. What is neither file, link nor
 * directory is removed only. */
int aside_copy(int from, int to, const char *path);

/* Every file and link below dir, by its path in it, in order; not those of a repository's .git. Nothing when there is no dir. */
void aside_each(const char *dir, void (*each)(void *arg, const char *path), void *arg);

#endif
