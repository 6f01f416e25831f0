/* SPDX-License-Identifier: MIT */
/* WORKTREE_ADD: a task's own work tree. Its content on the disk when it is created is recorded in
 * two refs that only this work tree has, and that mark it as complete: the tree, byte for byte, and
 * its commit. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "git/evidence_repo.h"
#include "git/operations.h"
#include "git/remove_dir.h"
#include "git/worktree_admin.h"
#include "proto/escape.h"
#include "record/host_fault.h"

/* ---- is it whole? ---- */

/* A file next to dir that exists while dir is being created: its content is then incomplete. After
 * a power cut nothing else shows that. */
static char *marker_file(const struct git_op *op)
{
	return xasprintf("%s.making", op->spec.dir);
}

static bool is_half_made(const struct git_op *op)
{
	char *file = marker_file(op);
	struct stat st;
	bool half = lstat(file, &st) == 0;

	free(file);
	return half;
}

static int begin_making(const struct git_op *op)
{
	char *file = marker_file(op), *parent = xmemdup0(file, (size_t)(strrchr(file, '/') - file));
	int rv;

	/* the removal of the last work tree beside it may just have removed the parent */
	do {
		rv = file_mkdirs(parent, 0755);
		if (rv == 0)
			rv = file_write(AT_FDCWD, file, "", 0, 0600, true);
	} while (rv == -ENOENT);
	free(parent);
	free(file);
	return rv;
}

void worktree_made(const struct git_op *op)
{
	char *file = marker_file(op);

	unlink(file);
	free(file);
}

static bool is_checked_out(const struct git_op *op, const char *path)
{
	char *git = xasprintf("%s/%s/.git", op->spec.workspace, path);
	struct stat st;
	bool yes = lstat(git, &st) == 0;

	free(git);
	return yes;
}

/* The task would have to change them, too. */
static int refuse_submodules(struct git_op *op)
{
	struct names names = { 0 };
	char *text;

	if (git_run(op, 0, "ls-files", "-s", "-z") != 0)
		return -1;
	/* "mode id stage<TAB>path" */
	for (const char *p = git_out(op), *end = p + git_out_size(op); p < end; p += strlen(p) + 1) {
		const char *tab = strchr(p, '\t');

		if (tab != NULL && strncmp(p, "160000 ", 7) == 0 && is_checked_out(op, tab + 1))
			names_add(&names, tab + 1);
	}
	text = names_take(&names);
	if (text == NULL)
		return 0;
	git_fail(op, xasprintf("%s has checked out submodules (%s), which a separate work tree "
	    "would lack; use --isolation shared", op->spec.workspace, text));
	free(text);
	return -1;
}

/* ---- what an earlier begin has left ---- */

/* Once it is complete, other programs may have worked there: it is used as it is, or
 * not touched. */
enum state { HALF_MADE, COMPLETE, ANOTHER };

static enum state state_of(const struct git_op *op, const char *admin)
{
	char *commit = worktree_admin_line(admin, WORKTREE_COMMIT), *head = worktree_admin_line(admin, "HEAD");
	char *want = xasprintf("ref: refs/heads/%s", op->result.branch);
	bool same = commit != NULL && head != NULL && strcmp(head, want) == 0 &&
	    (op->spec.commit == NULL || strcmp(commit, op->spec.commit) == 0);
	bool noted = commit != NULL;

	free(commit);
	free(head);
	free(want);
	return same ? COMPLETE : noted ? ANOTHER : HALF_MADE;
}

/* Incomplete: no agent has worked there. Its files are removed first, so that it is recognised as
 * ours until the end. admin: NULL: none, or it was damaged. */
static int remove_rest(struct git_op *op, const char *admin)
{
	int rv = remove_dir(op->spec.dir);

	worktree_admin_prune(op->common, op->spec.dir, true);
	if (rv == 0 && admin != NULL)
		rv = worktree_admin_remove(op->common, admin);
	return rv == 0 ? 0 : git_fail(op,
	    xasprintf("%s: the remains of an earlier start cannot be removed: %s; remove it and "
	        "retry the run",
	    op->spec.dir, host_words(-rv)));
}

/* ---- the new one ---- */

/* 1: another git interfered with the branch. tip: of the branch, NULL: no such branch. */
static int add_worktree(struct git_op *op, const char *tip)
{
	static const char add[] = "a task of rld works here";
	const char *dir = op->spec.dir, *branch = op->result.branch;
	int rv;

	if (rmdir(dir) == -1 && errno != ENOENT)
		return git_fail(op, xasprintf("%s is in the way of the task's work tree and was "
		    "not created by rld: %s; inspect it and move it away",
		    dir, errno == ENOTEMPTY || errno == EEXIST ? "it is not empty" : host_words(errno)));
	rv = begin_making(op);
	if (rv != 0)
		return git_fail(op, xasprintf("cannot create %s: %s", dir, host_words(-rv)));
	if (tip != NULL)
		return git_run(op, GIT_FILTERED | GIT_MAY_FAIL, "worktree", "add", "-q", "--lock",
		    "--reason", add, "--", dir, branch);
	return git_run(op, GIT_FILTERED | GIT_MAY_FAIL, "worktree", "add", "-q", "--lock",
	    "--reason", add, "--no-track", "-b", branch, "--", dir, op->spec.commit);
}

static int fail_branch(struct git_op *op, const char *what)
{
	char *shown = text_escape(op->result.branch, strlen(op->result.branch), false);

	git_fail(op, xasprintf("branch %s in %s %s", shown, op->spec.workspace, what));
	free(shown);
	return -1;
}

/* Whether dir contains a complete work tree. */
static bool is_taken(const struct git_op *op)
{
	char *admin = worktree_admin_find(op->common, op->spec.dir);
	bool taken = admin != NULL && !is_half_made(op) && state_of(op, admin) != HALF_MADE;

	free(admin);
	return taken;
}

/* 0: created now; 1: complete already; 2: another git interfered; -1. */
static int find_or_make(struct git_op *op, const char *tip)
{
	char *admin = worktree_admin_find(op->common, op->spec.dir);
	bool half = is_half_made(op);
	enum state state = admin != NULL && !half ? state_of(op, admin) : HALF_MADE;
	int rv = 0;

	if (state == COMPLETE)
		rv = 1;
	else if (state == ANOTHER)
		rv = git_fail(op, xasprintf("%s contains the work of another branch or start; "
		    "inspect it, and remove it with `git worktree remove -f -f`", op->spec.dir));
	else if (tip == NULL && op->spec.commit == NULL)
		rv = fail_branch(op,
		    "no longer exists; its commits may be in `git reflog` or in `rlctl salvage "
		    "list`");
	else if (tip != NULL && op->spec.commit != NULL && strcmp(tip, op->spec.commit) != 0)
		rv = fail_branch(op,
		    "exists already with other commits; rename it with `git branch -m`, or delete "
		    "it, then retry the run");
	else if (admin != NULL || half)
		rv = remove_rest(op, admin);
	free(admin);
	if (rv != 0)
		return rv;
	rv = add_worktree(op, tip);
	return rv == 1 ? 2 : rv;
}

/* 0: created now; 1: it existed; -1. */
static int open_worktree(struct git_op *op)
{
	struct branch branch = { 0 };
	int rv;

	do {
		rv = branch_claim(op, &branch, op->spec.commit, is_taken(op));
		if (rv == 0)
			rv = find_or_make(op, branch.tip);
	} while (rv == 2 && branch_try_again(op, &branch) == 0);
	free(branch.tip);
	return rv == 2 ? -1 : rv;
}

/* Record its content on the disk, and that it is complete. */
static int note_complete(struct git_op *op, bool is_new)
{
	struct buf input = { 0 };
	int rv;

	op->place = op->spec.dir;
	op->steady = true;
	if (git_run(op, 0, "rev-parse", "--verify", "-q", "HEAD^{commit}") != 0)
		return -1;
	op->result.commit = git_line(op, "no commit");
	if (op->result.commit == NULL || evidence_fetch(op, op->result.commit) != 0 ||
	    disk_tree(op, NULL, &op->result.tree) != 0 ||
	    evidence_give(op, op->result.tree, op->result.commit) != 0)
		return -1;
	/* other programs may have worked there since */
	op->result.laid = !is_new && op->spec.tree != NULL;
	if (!is_new)
		return 0;
	if (lay_work(op) != 0)
		return -1;
	buf_addf(&input, "update " WORKTREE_TREE " %s\n", op->result.tree);
	buf_addf(&input, "update " WORKTREE_COMMIT " %s\n", op->result.commit);
	rv = git_run_input(op, 0, &input, "update-ref", "--stdin");
	buf_release(&input);
	return rv;
}

int worktree_run(struct git_op *op)
{
	int rv;

	if (git_find_common(op) != 0)
		return -1;
	if (op->spec.branch[0] == '-')
		return git_fail(op, xasprintf("'%s' is not a valid branch name", op->spec.branch));
	branch_recall(op);
	if (!op->bare && refuse_submodules(op) != 0)
		return -1;
	rv = open_worktree(op);
	return rv == -1 ? -1 : note_complete(op, rv == 0);
}
