/* SPDX-License-Identifier: MIT */
/* What a tree has, as `git ls-tree -r -z` lists it. */
#ifndef GIT_CHECKOUT_H
#define GIT_CHECKOUT_H

#include "git/operations.h"

/* The entries of tree, in order; a name that git itself would not take is an error. */
int checkout_list(struct git_op *op, const char *tree, struct changes *entries);

#endif
