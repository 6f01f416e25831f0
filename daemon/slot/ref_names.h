/* SPDX-License-Identifier: MIT */
/* Names in the repository, all malloc'd. */
#ifndef SLOT_REF_NAMES_H
#define SLOT_REF_NAMES_H

#include <stdint.h>

#include "git/git_op.h"

struct slot;

/* The ref of an operation; NULL: none. */
char *git_ref(const struct slot *slot, enum git_op_kind kind);
/* For a MERGE: the branch of the task before a conflict, and the note that it was merged. */
char *git_keep_ref(const struct slot *slot);
char *git_note_ref(const struct slot *slot);
/* Short names of branches: for the results of a run, and for a slot's work tree. */
char *git_result_branch(int64_t run);
char *git_branch(const struct slot *slot);

#endif
