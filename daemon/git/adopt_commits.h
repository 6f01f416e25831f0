/* SPDX-License-Identifier: MIT */
/* What an agent has committed itself on top of spec.commit. All return 0, or -1 with
 * result.error. */
#ifndef GIT_ADOPT_COMMITS_H
#define GIT_ADOPT_COMMITS_H

#include "git/operations.h"

/* Are its commits as it was told to make them? led: the paths that they touched. tip: HEAD, NULL:
 * no commit; tip_ours: an earlier begin of this operation has made that one. */
int adopt_commits(struct git_op *op, const char *tip, bool tip_ours, struct changes *led);

/* Into wanted: what differs between tip and spec.tree of what they touched. In a shared tree a
 * person may have committed it since the tree was taken: only what the files still are is the work,
 * and undone has what was added here. */
int adopt_changes(struct git_op *op, const char *tip, const struct changes *led,
    struct changes *wanted, struct changes *undone);

/* ADOPT_COMMITS: is the work tree still spec.tree? 1: a hook has changed it, result.refused. */
int adopt_tree(struct git_op *op);

#endif
