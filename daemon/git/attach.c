/* SPDX-License-Identifier: MIT */
/* An agent may have turned a task's work tree away: .git leads to another repository, or HEAD is another branch, such as the
 * user's. The first ends the operation, for nothing of ours is done elsewhere. The second is put right before a commit:
 * HEAD comes back to the branch of the task, and that to what HEAD was at. Index and files stay as they are.
 * Where a conflict was laid out, the markers have to be gone before anything is committed. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "git/gitdir.h"
#include "git/op_int.h"
#include "git/registration.h"

static bool same_directory(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static char *registration_of(const struct git_op *op)
{
	char *common = git_dir_common(op->repository), *registration = common != NULL ? registration_find(common, op->workspace) : NULL;

	if (registration != NULL && !registration_leads_to(registration, common)) {
		free(registration);
		registration = NULL;
	}
	free(common);
	return registration;
}

char *attach_trouble(const struct git_op *op)
{
	char *registration = registration_of(op), *own = git_dir_own(op->workspace), *error = NULL;
	struct stat st;

	if (lstat(op->workspace, &st) == -1)
		error = xasprintf("%s is not there any more: its agent has removed it; retry the run", op->workspace);
	else if (registration == NULL || own == NULL || !same_directory(registration, own))
		error = xasprintf("%s is no work tree of %s any more: its agent has changed .git, or what that leads to; "
		    "`rlctl salvage list` has its files when the task has ended", op->workspace, op->repository);
	free(registration);
	free(own);
	return error;
}

static enum stage begin(const struct git_op *op)
{
	return op->kind == GIT_COMMIT ? STAGE_CHANGES : STAGE_TIP;
}

enum stage attach_marks(struct git_op *op)
{
	strings_append(&op->words, op->kind == GIT_MEASURE ? op->tree : op->given);
	return STAGE_MARKS;
}

static enum stage next(struct git_op *op)
{
	return op->resolved ? attach_marks(op) : begin(op);
}

/* A conflict has moved the work to another commit than the one that the work tree was made at. */
static bool was_in_conflict(const struct git_op *op, const char *registration)
{
	char *made_at = registration_line(registration, WORKTREE_COMMIT);
	bool moved = made_at != NULL && op->given_commit != NULL && strcmp(made_at, op->given_commit) != 0;

	free(made_at);
	return moved;
}

bool attach_was_in_conflict(const struct git_op *op)
{
	char *registration = registration_of(op);
	bool was = registration != NULL && was_in_conflict(op, registration);

	free(registration);
	return was;
}

static void add_branch(struct git_op *op)
{
	char *ref = xasprintf("refs/heads/%s", op->branch);

	strings_append(&op->words, ref);
	free(ref);
}

enum stage attach_start(struct git_op *op)
{
	char *registration = op->repository != NULL ? registration_of(op) : NULL, *head, *want;
	bool there;

	if (registration == NULL)
		return next(op);
	op->resolved = was_in_conflict(op, registration);
	head = registration_line(registration, "HEAD");
	want = xasprintf("ref: refs/heads/%s", op->branch);
	there = head != NULL && strcmp(head, want) == 0;
	free(want);
	free(head);
	free(registration);
	if (there)
		return next(op);
	add_branch(op);
	strings_append(&op->words, "HEAD");
	return STAGE_ATTACH_LOOK;
}

enum stage attach_look_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	if (!ok)
		return op_fail(op, xasprintf("%s: its agent has left branch %s, and HEAD has not what was committed there; " OP_KEPT, op->workspace, op->branch));
	add_branch(op);
	strings_append(&op->words, "HEAD");
	return STAGE_ATTACH_MOVE;
}

enum stage attach_move_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	add_branch(op);
	return STAGE_ATTACH;
}

enum stage attach_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return next(op);
}

/* "tree:path" of each file; exit status 1 and no word: there is none. */
enum stage marks_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *said = ok ? NULL : op_said(op);
	bool failed = said != NULL && said[0] != '\0';

	free(said);
	if (failed)
		return op_process_failed(op);
	for (const char *p = data, *end = data + size; ok && p < end; p += strlen(p) + 1) {
		const char *colon = strchr(p, ':');

		names_add(&op->conflicts, colon != NULL ? colon + 1 : p);
	}
	names_end(&op->conflicts);
	if (op->kind == GIT_MEASURE)
		return rehearse_marked(op);
	return op->conflicts.count > 0 ? STAGE_NONE : begin(op);
}
