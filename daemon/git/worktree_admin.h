/* SPDX-License-Identifier: MIT */
/* The administrative files of a work tree: the repository's directory worktrees/NAME that has its
 * HEAD and index. Found and removed by its files, as git itself does it, also for a tree whose .git
 * is broken. Blocking: off the loop only. */
#ifndef GIT_WORKTREE_ADMIN_H
#define GIT_WORKTREE_ADMIN_H

#include <stdbool.h>

/* The directory of the work tree dir, absolute; common: the repository's common directory.
 * malloc'd; NULL: there is none. */
char *worktree_admin_find(const char *common, const char *dir);

/* Does it point back to common? An agent may have made it point elsewhere. */
bool worktree_admin_points_to(const char *admin, const char *common);

/* The first line of one of its files; malloc'd, NULL: it cannot be read. */
char *worktree_admin_line(const char *admin, const char *file);

/* 0 or -errno. */
int worktree_admin_remove(const char *common, const char *admin);

/* Remove directories left behind by a git that was killed while it began to make one for dir: they
 * name no work tree, and `git worktree prune` never removes them. damaged: with whatever else is in
 * it; a power cut leaves such ones, too. One younger than a second may be in use by another git,
 * and stays. */
void worktree_admin_prune(const char *common, const char *dir, bool damaged);

#endif
