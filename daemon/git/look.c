/* SPDX-License-Identifier: MIT */
/* LOOK: which commits HEAD has that it had not when the work began, does it still have those that it had, and which tree? */
#include <stdlib.h>
#include <string.h>

#include "git/op_int.h"

enum stage look_tip_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *since;

	if ((!ok || size < 2) && op->given_commit == NULL)
		return STAGE_NONE;
	if (!ok || size < 2)
		return op_fail(op, xasprintf("%s: its branch has no commit any more; see `git reflog` there", op->workspace));
	op->tip = xmemdup0(data, size - 1);
	if (op->given_commit != NULL && strcmp(op->tip, op->given_commit) == 0)
		return STAGE_NONE;
	since = op->given_commit != NULL ? xasprintf("^%s", op->given_commit) : NULL;
	strings_append(&op->words, op->tip);
	if (since != NULL)
		strings_append(&op->words, since);
	free(since);
	return STAGE_LOOK_HISTORY;
}

enum stage look_history_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct series series;
	char *tree;

	(void)ok;
	series_read(&series, data, size, op->given_commit != NULL ? op->given_commit : "");
	op->commit = xstrdup(op->tip);
	op->ahead = series.ids;
	op->rewritten = op->given_commit != NULL && !series.descends;
	tree = xasprintf("%s^{tree}", op->tip);
	strings_append(&op->words, tree);
	free(tree);
	return STAGE_LOOK_TREE;
}

enum stage look_tree_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (size < 2)
		return op_fail(op, xasprintf("git rev-parse: no tree of %s in %s", op->tip, op->workspace));
	op->tree = xmemdup0(data, size - 1);
	return STAGE_NONE;
}
