/* SPDX-License-Identifier: MIT */
/* The result of the last operation, for tests of one kind of operation. */
#ifndef UNIT_GIT_LAST_H
#define UNIT_GIT_LAST_H

#include "git_repo.h"

static char *error, *commit, *tree;	/* NULL: none */

/* Takes op, whose scratch directory is empty again. */
static inline void take(struct git_op *op)
{
	text_set(&error, git_op_error(op));
	text_set(&commit, git_op_commit(op));
	text_set(&tree, git_op_tree(op));
	git_op_free(op);
	expect_scratch_empty();
}

/* Frees got. */
static inline void expect_text(const char *want, char *got)
{
	ck_assert_str_eq(got, want);
	free(got);
}

#endif
