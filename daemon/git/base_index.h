/* SPDX-License-Identifier: MIT */
/* The private index of the base of the work. It is made once for each slot and base and kept in the
 * scratch directory of the slot: the operations that list a directory by its base begin with it. */
#ifndef GIT_BASE_INDEX_H
#define GIT_BASE_INDEX_H

#include "git/git_run.h"

/* Make the private index that of tree. 0; -1 with result.error. */
int base_index_read(struct git_op *op, const char *tree);

#endif
