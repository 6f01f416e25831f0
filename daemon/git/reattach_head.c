/* SPDX-License-Identifier: MIT */
/* An agent may have turned a task's work tree away: .git leads to another repository, or HEAD is
 * another branch, such as the user's. The first ends the operation, for nothing of ours is done
 * elsewhere. The second is put right before a commit: HEAD comes back to the branch of the task,
 * and that to what HEAD was at. Index and files stay as they are. After a conflict, the markers
 * have to be gone before anything is committed. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "git/gitdir.h"
#include "git/operations.h"
#include "git/worktree_admin.h"

static bool same_directory(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static char *admin_of(const struct git_op *op)
{
	char *common = git_dir_common(op->spec.repository),
	    *admin = common != NULL ? worktree_admin_find(common, op->spec.workspace) : NULL;

	if (admin != NULL && !worktree_admin_points_to(admin, common)) {
		free(admin);
		admin = NULL;
	}
	free(common);
	return admin;
}

char *reattach_trouble(const struct git_op *op)
{
	char *admin = admin_of(op), *own = git_dir_own(op->spec.workspace), *error = NULL;
	struct stat st;

	if (lstat(op->spec.workspace, &st) == -1)
		error = xasprintf("%s is not there any more: its agent has removed it; retry the run",
		    op->spec.workspace);
	else if (admin == NULL || own == NULL || !same_directory(admin, own))
		error = xasprintf("%s is no work tree of %s any more: its agent has changed .git, "
		    "or what that leads to; `rlctl salvage list` has its files when the task has ended",
		    op->spec.workspace, op->spec.repository);
	free(admin);
	free(own);
	return error;
}

/* A conflict has moved the work to another commit than the one that the work tree was made at. */
static bool was_in_conflict(const struct git_op *op, const char *admin)
{
	char *made_at = worktree_admin_line(admin, WORKTREE_COMMIT);
	bool moved = made_at != NULL && op->spec.commit != NULL && strcmp(made_at, op->spec.commit) != 0;

	free(made_at);
	return moved;
}

bool reattach_was_in_conflict(const struct git_op *op)
{
	char *admin = admin_of(op);
	bool was = admin != NULL && was_in_conflict(op, admin);

	free(admin);
	return was;
}

/* HEAD comes back to the branch of the task, and that to what HEAD is at. */
static int move_back(struct git_op *op)
{
	char *ref = xasprintf("refs/heads/%s", op->spec.branch);
	int rv = git_run(op, GIT_MAY_FAIL, "merge-base", "--is-ancestor", ref, "HEAD");

	if (rv == 1)
		rv = git_fail(op, xasprintf("%s: its agent has left branch %s, and HEAD has not "
		    "what was committed there; " GIT_KEPT, op->spec.workspace, op->spec.branch));
	if (rv == 0)
		rv = git_run(op, 0, "update-ref", "--no-deref", ref, "HEAD");
	if (rv == 0)
		rv = git_run(op, 0, "symbolic-ref", "HEAD", ref);
	free(ref);
	return rv;
}

int reattach_head(struct git_op *op)
{
	char *admin = op->spec.repository != NULL ? admin_of(op) : NULL;
	char *head = admin != NULL ? worktree_admin_line(admin, "HEAD") : NULL;
	char *want = xasprintf("ref: refs/heads/%s", op->spec.branch != NULL ? op->spec.branch : "");
	int rv = admin == NULL || (head != NULL && strcmp(head, want) == 0) ? 0 : move_back(op);

	free(want);
	free(head);
	free(admin);
	return rv;
}

int conflict_marks(struct git_op *op, const char *tree)
{
	struct names names = { 0 };
	/* -a: whatever an attribute says of a file */
	int rv = git_run(op, GIT_MAY_FAIL, "grep", "-a", "-l", "-z", "-E", "--no-recurse-submodules", "-e",
	    "^(<<<<<<< " MERGE_INTEGRATED "|>>>>>>> " MERGE_TASK ")(:.*)?[[:space:]]*$", tree);

	/* exit status 1 and no word: there is none */
	if (rv == 1 && op->end.err.size > 0)
		return git_fail_process(op);
	for (const char *p = git_out(op), *end = p + git_out_size(op); rv == 0 && p < end; p += strlen(p) + 1) {
		const char *colon = strchr(p, ':');

		names_add(&names, colon != NULL ? colon + 1 : p);
	}
	op->result.conflicts = names_take(&names);
	return rv == -1 ? -1 : 0;
}
