/* SPDX-License-Identifier: MIT */
/* MEASURE: the tree, and the patch since the base. Before a reviewer is paid, check that the work
 * could be committed: conflict markers prevent it, and a hook of the repository may. A hook may
 * also reformat files: the result is measured, and the hooks run again on it. Nothing is committed
 * here. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "git/copied_files.h"
#include "git/evidence_repo.h"
#include "git/operations.h"

#define REHEARSALS_MAX 2

/* 1: there is a commit hook; 0; -1. */
static int any_hook(struct git_op *op)
{
	static const char *const names[] = { "pre-commit", "prepare-commit-msg", "commit-msg" };
	char *dir;
	bool any = false;

	if (git_run(op, GIT_HOOKED, "rev-parse", "--path-format=absolute", "--git-path", "hooks") != 0)
		return -1;
	dir = git_out_line(op);
	for (size_t i = 0; dir != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		char *hook = xasprintf("%s/%s", dir, names[i]);

		any = any || access(hook, X_OK) == 0;
		free(hook);
	}
	free(dir);
	return any;
}

/* Run the hooks on a commit of the tree. 0: they have run; 1: there is nothing to commit; -1. */
static int rehearse(struct git_op *op)
{
	struct changes wanted = { 0 };
	char *tip = NULL, *planned = NULL;
	int rv = git_diff(op, GIT_EVIDENCE, op->spec.tree, op->result.tree, op->artifacts, &wanted);

	if (rv == 0 && wanted.count == 0)
		rv = strcmp(op->spec.tree, op->result.tree) != 0 && git_out_size(op) == 0 ? git_fail_output(op) : 1;
	if (rv == 0)
		rv = git_resolve(op, "HEAD^{commit}", &tip);
	/* these are staged as in the tree */
	if (rv == 0 && op->shared_paths != NULL)
		rv = evidence_give(op, op->result.tree, op->spec.tree);
	if (rv == 0)
		git_fresh_index(op);
	if (rv == 0)
		rv = stage_work(op, tip, &wanted);
	if (rv == 0)
		rv = disk_tree_write(op, 0, &planned);
	if (rv == 0)
		rv = commit_hooks_run(op, planned) == -1 ? -1 : 0;
	changes_release(&wanted);
	free(planned);
	free(tip);
	return rv;
}

/* 0: result.tree differs from the tree the hooks ran on; 1: done; -1. */
static int ask(struct git_op *op, int rehearsals, const char *asked)
{
	int rv = 0;

	if (rehearsals == REHEARSALS_MAX || (asked != NULL && strcmp(asked, op->result.tree) == 0))
		return 1;
	if (op->spec.repository != NULL && reattach_was_in_conflict(op)) {
		if (conflict_marks(op, op->result.tree) != 0)
			return -1;
		if (op->result.conflicts != NULL)
			return 1;
	}
	if (op->spec.message == NULL)
		return 1;
	if (rehearsals == 0)
		rv = any_hook(op);
	else
		rv = 1;
	return rv == -1 ? -1 : rv == 0;
}

int measure_run(struct git_op *op)
{
	struct changes appeared = { 0 }, differs = { 0 };
	char *asked = NULL;
	int rv = appeared_read(op, &appeared);

	for (int rehearsals = 0; rv == 0; rehearsals++) {
		rv = disk_tree(op, &appeared, &op->result.tree);
		if (rv == 0)
			rv = ask(op, rehearsals, asked);
		if (rv != 0)
			break;
		text_set(&op->result.refused, NULL);
		op->result.hook_changed = false;
		text_set(&asked, op->result.tree);
		rv = rehearse(op);
	}
	changes_release(&appeared);
	free(asked);
	if (rv == -1 || verify_judged(op, op->result.tree) != 0)
		return -1;
	if (copied_files_hash(op) != 0)
		return -1;
	/* the patch looks at each object that differs */
	rv = patch_write(op, GIT_EVIDENCE, op->spec.tree, op->result.tree, &differs);
	if (rv == 0)
		touched_find(op, &differs);
	changes_release(&differs);
	return rv;
}
