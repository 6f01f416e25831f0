/* SPDX-License-Identifier: MIT */
/* The set-up of a room that is reused: for which tree it ran there, noted in a file of the evidence
 * repository. */
#ifndef GIT_ROOM_SETUP_H
#define GIT_ROOM_SETUP_H

#include "git/git_run.h"

/* The tree in whose room spec.dir the set-up of key ran last, malloc'd; NULL: none, or of another
 * key. */
char *room_setup_tree(const struct git_op *op, const char *key);
void room_setup_note(const struct git_op *op, const char *key, const char *tree);
void room_setup_forget(const struct git_op *op);

#endif
