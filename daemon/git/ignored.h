/* SPDX-License-Identifier: MIT */
/* What the user's directory has, and a clean checkout lacks. */
#ifndef GIT_IGNORED_H
#define GIT_IGNORED_H

#include "git/git_run.h"

struct changes;

/* CHECKOUT with spec.explains: result.ignored and result.manifests; entries: of the tree. A failure
 * is none: they only explain. */
void ignored_find(struct git_op *op, const struct changes *entries);

#endif
