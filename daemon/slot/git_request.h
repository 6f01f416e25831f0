/* SPDX-License-Identifier: MIT */
/* Input of git operations. */
#ifndef SLOT_GIT_REQUEST_H
#define SLOT_GIT_REQUEST_H

#include <stdbool.h>

#include "git/git_op.h"

struct run;
struct slot;
struct txn;

void git_begin(struct slot *slot, enum git_op_kind kind);
/* The work tree or checkout of an operation, malloc'd; NULL: none. */
char *git_dir(const struct slot *slot, enum git_op_kind kind);
/* The commit of an operation. */
const char *git_commit_of(const struct slot *slot, enum git_op_kind kind);
/* Files that belong to the review, not the work, relative to the workspace: see git_op_spec. Free
 * with strings_free(). */
char **run_artifacts(const struct run *run);

#endif
