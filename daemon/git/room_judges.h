/* SPDX-License-Identifier: MIT */
/* Files by which agents review, in a room where other code has run. */
#ifndef GIT_ROOM_JUDGES_H
#define GIT_ROOM_JUDGES_H

#include "git/git_run.h"

/* Remove those of spec.judging from spec.dir that are no files of the tree, entries: a set-up, or a
 * check before, has made them, perhaps with the code of the work. 0; -1 with result.error. */
int room_judges_remove(struct git_op *op, const struct changes *entries);

#endif
