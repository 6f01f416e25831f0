/* SPDX-License-Identifier: MIT */
/* An agent may have redirected a task's work tree: .git points to another repository, or HEAD is
 * another branch, such as the user's. The former fails the operation, because it must not change
 * anything elsewhere. The latter is repaired before a commit: HEAD returns to the branch of the
 * task, which moves to HEAD's commit. Index and files stay unchanged. After a conflict, the markers
 * must be gone before a commit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "git/gitdir.h"
#include "git/operations.h"
#include "git/worktree_admin.h"
#include "record/host_fault.h"

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
	char *admin, *own, *error = NULL;
	bool setup = op->spec.kind == GIT_PREPARE, gone;
	struct stat st;

	errno = 0;
	admin = admin_of(op);
	own = git_dir_own(op->spec.workspace);
	gone = !host_fault(errno) && lstat(op->spec.workspace, &st) == -1;
	if (host_fault(errno))
		error = xasprintf("%s: %s", op->spec.workspace, host_words(errno));
	else if (gone)
		error = xasprintf("%s no longer exists: its %s removed it; %s", op->spec.workspace,
		    setup ? "set-up" : "agent", setup ? GIT_OTHER_SETUP : "retry the run");
	else if (admin == NULL || own == NULL || !same_directory(admin, own))
		error = xasprintf("%s is no longer a work tree of %s: its %s changed .git or its target; %s",
		    op->spec.workspace, op->spec.repository, setup ? "set-up" : "agent", setup ? GIT_OTHER_SETUP :
		    "`rlctl salvage list` shows its files when the task has ended");
	free(admin);
	free(own);
	return error;
}

/* Whether a conflict has moved the work to another commit than the work tree was created at. */
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

/* HEAD returns to the branch of the task, which moves to HEAD's commit. */
static int move_back(struct git_op *op)
{
	char *ref = xasprintf("refs/heads/%s", op->spec.branch);
	int rv = git_run(op, GIT_MAY_FAIL, "merge-base", "--is-ancestor", ref, "HEAD");

	if (rv == 1)
		rv = git_fail(op, xasprintf("%s: its agent left branch %s, and HEAD lacks the "
		    "commits of that branch; " GIT_KEPT, op->spec.workspace, op->spec.branch));
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
	/* -a: whatever the attributes of a file */
	int rv = git_run(op, GIT_EVIDENCE | GIT_MAY_FAIL, "grep", "-a", "-l", "-z", "-E",
	    "--no-recurse-submodules", "-e",
	    "^(<<<<<<< " MERGE_INTEGRATED "|>>>>>>> " MERGE_TASK ")(:.*)?[[:space:]]*$", tree);

	/* exit status 1 without output: no match */
	if (rv == 1 && op->end.err.size > 0)
		return git_fail_process(op);
	for (const char *p = git_out(op), *end = p + git_out_size(op); rv == 0 && p < end; p += strlen(p) + 1) {
		const char *colon = strchr(p, ':');

		names_add(&names, colon != NULL ? colon + 1 : p);
	}
	op->result.conflicts = names_take(&names);
	return rv == -1 ? -1 : 0;
}
