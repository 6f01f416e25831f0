/* SPDX-License-Identifier: MIT */
/* The administrative files of a work tree: the repository's directory worktrees/NAME with its HEAD
 * and index. Found and removed by its files, like git does, also for a tree whose .git is broken.
 * Blocking: off the loop only. */
#ifndef GIT_WORKTREE_ADMIN_H
#define GIT_WORKTREE_ADMIN_H

#include <stdbool.h>

/* The directory for the work tree dir, absolute; common: the repository's common directory.
 * malloc'd; NULL: none. */
char *worktree_admin_find(const char *common, const char *dir);

/* Whether admin points back to common. An agent may have redirected it. */
bool worktree_admin_points_to(const char *admin, const char *common);

/* The first line of one of its files; malloc'd, NULL: unreadable. */
char *worktree_admin_line(const char *admin, const char *file);

/* 0 or -errno. */
int worktree_admin_remove(const char *common, const char *admin);

/* Remove directories left behind by a git that was killed while creating one for dir, or while it
 * took that back: they name no work tree, and git never removes those that are locked. damaged:
 * with any content; a power cut leaves such ones, too. One younger than a second may be in use by
 * another git, and stays. */
void worktree_admin_prune(const char *common, const char *dir, bool damaged);

#endif
