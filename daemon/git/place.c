/* SPDX-License-Identifier: MIT */
/* The first question of what has to do with work trees of tasks: where the repository has what they share. */
#include <stdlib.h>
#include <string.h>

#include "git/op_int.h"

/* "true" or "false", then the path, which may have a line end in it. */
enum stage place_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	const char *path = memchr(data, '\n', size);

	(void)ok;
	if (path == NULL || path[1] != '/' || data[size - 1] != '\n')
		return op_fail(op, xasprintf("git rev-parse: unexpected output in %s; is git 2.39 or newer?", op->workspace));
	op->bare = strncmp(data, "true", 4) == 0;
	op->common = xmemdup0(path + 1, size - (size_t)(path + 1 - data) - 1);
	if (op->kind == GIT_BASE)
		return STAGE_BASE_TIP;
	if (op->kind == GIT_MERGE)
		return merge_start(op);
	return op->kind == GIT_WORKTREE ? worktree_start(op) : clear_start(op);
}
