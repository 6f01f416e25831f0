/* SPDX-License-Identifier: MIT */
/* INSPECT_HEAD: the commits of HEAD since the beginning of the work, whether the earlier ones are
 * still there, and its tree. */
#include <stdlib.h>
#include <string.h>

#include "git/operations.h"

/* The commits of tip, and its tree. */
static int read_commits(struct git_op *op, const char *tip)
{
	struct series series;
	char *name;
	int rv;

	if (series_read(op, tip, op->spec.commit, &series) != 0)
		return -1;
	text_set(&op->result.commit, tip);
	op->result.ahead = series.ids;
	op->result.rewritten = op->spec.commit != NULL && !series.descends;
	name = xasprintf("%s^{tree}", tip);
	rv = git_run(op, 0, "rev-parse", "--verify", "-q", name);
	free(name);
	if (rv == 0)
		op->result.tree = git_out_line(op);
	return op->result.tree != NULL ? 0 : rv == -1 ? -1 :
	    git_fail(op, xasprintf("git rev-parse: no tree of %s in %s", tip, op->spec.workspace));
}

int inspect_head_run(struct git_op *op)
{
	char *tip;
	int rv = git_resolve(op, "HEAD^{commit}", &tip);

	if (rv == 0 && tip == NULL && op->spec.commit != NULL)
		rv = git_fail(op, xasprintf("%s: its branch no longer has a commit; see `git "
		    "reflog` there",
		    op->spec.workspace));
	else if (rv == 0 && tip != NULL && (op->spec.commit == NULL || strcmp(tip, op->spec.commit) != 0))
		rv = read_commits(op, tip);
	free(tip);
	return rv;
}
