/* SPDX-License-Identifier: MIT */
/* Commits made by agents on top of spec.commit. All return 0, or -1 with result.error. */
#ifndef GIT_ADOPT_COMMITS_H
#define GIT_ADOPT_COMMITS_H

#include "git/operations.h"

/* Check that the commits are as requested. led: the paths that they touched. tip: HEAD, NULL: no
 * commit; tip_ours: an earlier start of this operation made it. */
int adopt_commits(struct git_op *op, const char *tip, bool tip_ours, struct changes *led);

/* Fill wanted: differences between tip and spec.tree in the paths they touched. In a shared tree a
 * person may have committed such a path since the tree was recorded: only what the files still
 * contain is the work, and undone lists what was added here. */
int adopt_changes(struct git_op *op, const char *tip, const struct changes *led,
    struct changes *wanted, struct changes *undone);

/* ADOPT_COMMITS: whether the work tree is still spec.tree. 1: a hook has changed it, see
 * result.refused. */
int adopt_tree(struct git_op *op);

#endif
