/* SPDX-License-Identifier: MIT */
/* Puts HEAD into the private index, and on top of it the wanted files as they are in the tree,
 * converted. The work tree is not read: what a person edits there meanwhile stays there. */
#include <stdlib.h>
#include <string.h>

#include "git/conversions.h"
#include "git/operations.h"

static int update_paths(struct git_op *op, struct buf *input, const char *how)
{
	int rv = input->size > 0 ? git_run_input(op, GIT_INDEX, input, "update-index", how, "-z", "--stdin") : 0;

	buf_release(input);
	return rv;
}

int stage_work(struct git_op *op, const char *tip, const struct changes *wanted)
{
	const char *tree = op->result.tree != NULL ? op->result.tree : op->spec.tree;
	const char *from = tip != NULL ? tip : empty_trees[strlen(tree) == 40 ? 0 : 1];
	struct buf gone = { 0 };

	changes_paths(wanted, true, &gone);
	if (git_run(op, GIT_INDEX, "read-tree", from) != 0) {
		buf_release(&gone);
		return -1;
	}
	if (update_paths(op, &gone, "--force-remove") != 0 || conversions_stage(op, tree, wanted) != 0)
		return -1;
	if (git_run(op, GIT_INDEX, "diff-index", "--cached", "-z", "--name-only",
	    "--ignore-submodules=none", from) != 0)
		return -1;
	return git_out_size(op) > 0 ? 0 : 1;
}
