/* SPDX-License-Identifier: MIT */
/* git_op_run(): what precedes and follows every operation. */
#include "git/operations.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/child.h"
#include "git/artifact.h"
#include "git/gitdir.h"
#include "git/lock.h"
#include "git/worktree_admin.h"
#include "record/host_fault.h"
#include "record/sync.h"

static int (*const runs[GIT_OPS])(struct git_op *op) = {
	[GIT_SNAPSHOT] = snapshot_run,
	[GIT_MEASURE] = measure_run,
	[GIT_VERIFY] = verify_run,
	[GIT_PIN] = pin_run,
	[GIT_CHECKOUT] = checkout_run,
	[GIT_PREPARE] = prepare_run,
	[GIT_COMMIT] = commit_run,
	[GIT_BASE] = base_run,
	[GIT_WORKTREE_ADD] = worktree_run,
	[GIT_ADOPT_COMMITS] = commit_run,
	[GIT_MERGE] = merge_run,
	[GIT_WORKTREE_REMOVE] = worktree_remove_run,
	[GIT_WORKTREE_DELETE] = worktree_delete_run,
	[GIT_INSPECT_HEAD] = inspect_head_run,
	[GIT_COMPARE_REFS] = compare_refs_run,
	[GIT_FIND_EDITS] = find_edits_run,
};

/* Remove locks of a killed git, ours or an agent's: no other process works on these. */
static void unlock(const struct git_op *op, const char *common)
{
	const struct git_op_spec *spec = &op->spec;
	/* a branch that is about to be reserved may belong to another daemon */
	bool reserves = spec->instance != NULL && (spec->kind == GIT_BASE || spec->kind == GIT_WORKTREE_ADD);
	char *branch = spec->branch != NULL && !reserves ? xasprintf("refs/heads/%s", spec->branch) : NULL;
	gid_t group = child_open_as_agents();

	lock_remove_ref(common, spec->ref);
	lock_remove_ref(common, spec->keep_ref);
	lock_remove_ref(common, spec->note_ref);
	lock_remove_ref(common, branch);
	if (spec->repository != NULL)
		lock_remove_tree(common, spec->workspace);
	else if (spec->kind == GIT_MERGE && spec->dir != NULL)
		lock_remove_tree(common, spec->dir);
	else
		lock_remove_old(common, spec->workspace);
	child_open_as(group);
	free(branch);
}

/* Sync before reporting: objects, refs, and a new work tree or room. */
static void to_disk(struct git_op *op, const char *common)
{
	enum git_op_kind kind = op->spec.kind;
	/* of these, only a directory that they have made or filled */
	bool room = kind == GIT_CHECKOUT || kind == GIT_PREPARE;
	const char *places[] = { room ? NULL : common != NULL ? common : op->spec.workspace,
	    room ? NULL : op->objects,
	    room || kind == GIT_WORKTREE_ADD || kind == GIT_MERGE ? op->spec.dir : NULL };
	size_t count = sizeof(places) / sizeof(places[0]);

	if (kind == GIT_COMPARE_REFS || kind == GIT_WORKTREE_DELETE)
		return;
	for (size_t i = 0; op->result.error == NULL && i < count; i++) {
		bool again = false;
		int rv;

		for (size_t j = 0; places[i] != NULL && j < i && !again; j++)
			again = places[j] != NULL && sync_is_same(places[j], places[i]);
		if (places[i] == NULL || again)
			continue;
		rv = sync_all(places[i]);
		if (rv != 0)
			git_fail(op, xasprintf("%s: the output of git is not on the disk: %s; "
			    "check the disk, then retry the run", places[i], host_words(-rv)));
	}
	if (kind == GIT_WORKTREE_ADD && op->result.error == NULL)
		worktree_made(op);
}

/* For a work tree that other programs use, too. */
static void read_head_file(struct git_op *op)
{
	static const bool reads[GIT_OPS] = {
		[GIT_SNAPSHOT] = true, [GIT_BASE] = true, [GIT_INSPECT_HEAD] = true,
		[GIT_COMMIT] = true, [GIT_ADOPT_COMMITS] = true,
	};
	char *own = reads[op->spec.kind] && op->spec.repository == NULL ? git_dir_own(op->spec.workspace) : NULL;

	if (own != NULL)
		op->result.head_at = worktree_admin_line(own, "HEAD");
	free(own);
}

int git_op_run(struct git_op *op)
{
	char *common = git_dir_common(op->spec.repository != NULL ? op->spec.repository : op->spec.workspace);
	char *error;
	int rv;

	op->place = op->spec.workspace;
	/* what a work tree has is saved in the user's repository */
	op->objects = op->spec.kind != GIT_WORKTREE_REMOVE ? op->spec.evidence : NULL;
	op->index = xasprintf("%s/index", op->spec.scratch);
	op->artifacts = artifacts_copy(op->spec.artifacts);
	op->shared_paths = artifacts_copy(op->spec.shared_paths);
	host_noted();
	error = op->spec.repository != NULL ? reattach_trouble(op) : NULL;
	git_fresh_index(op);		/* a power cut may have left one, locked */
	if (common != NULL && op->spec.kind != GIT_WORKTREE_DELETE)
		unlock(op, common);
	rv = error != NULL ? git_fail(op, error) : op->spec.basis != NULL ? modified_basis_find(op) : 0;
	if (rv == 0)
		rv = runs[op->spec.kind](op);
	if (rv == 0) {
		free(op->result.error);		/* of the first try */
		op->result.error = NULL;
		op->result.fault = 0;
	}
	if (op->result.refused == NULL)
		commit_hooks_forget(op);
	read_head_file(op);
	if (rv == 0)
		to_disk(op, common);
	if (op->result.error != NULL && op->result.fault == 0)
		op->result.fault = host_noted();
	unlink(op->index);
	free(common);
	return op->result.error != NULL ? -1 : 0;
}
