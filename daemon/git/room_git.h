/* SPDX-License-Identifier: MIT */
/* The git repository of a room, so that git works there: HEAD is the commit that the work started
 * from, with recent history and tags, and all of the work is staged. Its objects are copies: what
 * is done there harms nothing else.
 *
 * Once an agent has worked in the room, rld runs no git on this repository any more: its
 * configuration may start programs. */
#ifndef GIT_ROOM_GIT_H
#define GIT_ROOM_GIT_H

#include "git/git_run.h"

/* Make spec.dir/.git, which does not exist yet, from the evidence repository. If the work started
 * from more than spec.commit (uncommitted changes, or none committed yet), HEAD is a commit of that
 * on top: of spec.room_base, else of spec.base. Without an evidence repository nothing is made. 0;
 * -1 with result.error. */
int room_git_make(struct git_op *op);
/* The same in place of what a set-up has left of it: its code may be that of the work. */
int room_git_make_again(struct git_op *op);

#endif
