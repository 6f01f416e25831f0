/* SPDX-License-Identifier: MIT */
/* INSPECT_HEAD: the commits of HEAD since the beginning of the work, whether the earlier ones are
 * still there, and whether HEAD has all of the work and nothing else. */
#include <stdlib.h>
#include <string.h>

#include "git/adopt_commits.h"
#include "git/evidence_repo.h"
#include "git/operations.h"

/* What COMMIT would stage on top of tip. 1: nothing; 0; -1. */
static int stage_rest(struct git_op *op, const char *tip)
{
	const char *tree = op->spec.tree,
	    *since = op->spec.commit != NULL ? op->spec.commit : empty_trees[strlen(tree) == 40 ? 0 : 1];
	struct changes wanted = { 0 }, touched = { 0 }, undone = { 0 };
	int rv = evidence_give(op, tree, op->spec.base);

	if (rv == 0)
		rv = git_diff(op, GIT_EVIDENCE, op->spec.base, tree, op->artifacts, &wanted);
	if (rv == 0)
		rv = git_diff(op, 0, since, tip, op->artifacts, &touched);
	if (rv == 0)
		rv = adopt_changes(op, tip, &touched, &wanted, &undone);
	git_fresh_index(op);
	if (rv == 0)
		rv = stage_work(op, tip, &wanted);
	changes_release(&wanted);
	changes_release(&touched);
	changes_release(&undone);
	return rv;
}

/* A failure to compare leaves it unknown. */
static int compare_work(struct git_op *op, const char *tip)
{
	int rv = op->spec.tree != NULL && op->spec.base != NULL ? stage_rest(op, tip) : 0;

	op->result.whole = rv == 1;
	if (rv == -1 && op->result.fault == 0)
		text_set(&op->result.error, NULL);
	return rv == -1 && op->result.fault != 0 ? -1 : 0;
}

/* The commits of tip. */
static int read_commits(struct git_op *op, const char *tip)
{
	struct series series;

	if (series_read(op, tip, op->spec.commit, &series) != 0)
		return -1;
	text_set(&op->result.commit, tip);
	op->result.ahead = series.ids;
	op->result.rewritten = op->spec.commit != NULL && !series.descends;
	return compare_work(op, tip);
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
