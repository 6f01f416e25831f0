/* SPDX-License-Identifier: MIT */
/* Content of a tree, as listed by `git ls-tree -r -z`. */
#ifndef GIT_CHECKOUT_H
#define GIT_CHECKOUT_H

#include "git/operations.h"
#include "git/unpack.h"

/* The entries of tree, in order; a name that git does not allow is an error. */
int checkout_list(struct git_op *op, const char *tree, struct changes *entries);

/* Write entries, or some of them in that order, where nothing is in their place. */
int checkout_write(struct git_op *op, const struct changes *entries, struct unpack *unpack);

#endif
