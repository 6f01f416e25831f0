/* SPDX-License-Identifier: MIT */
/* A room: a directory of ours with exactly the files of a tree, in which checks and reviewers
 * work. */
#ifndef GIT_ROOM_H
#define GIT_ROOM_H

#include "git/git_run.h"

/* Add those of entries, the files of spec.tree, to changed that the room spec.dir has no longer, or
 * in another form; those of spec.may_change to permitted instead. What else is there does not
 * matter. 0; -1 with result.error. */
int room_compare(struct git_op *op, const struct changes *entries, struct names *changed, struct names *permitted);

#endif
