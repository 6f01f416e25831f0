/* SPDX-License-Identifier: MIT */
/* WORKTREE_REMOVE: the end of a task's work tree. Nothing in it is trusted: an agent may have
 * broken its .git, its index or its administrative files. The files are saved byte for byte,
 * without filters; so for a file that differs from the branch's, the record of WORKTREE_ADD tells
 * whether only a filter changed it.
 *
 * When repeated: once the directory has been renamed, everything is saved. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/operations.h"
#include "git/remove_dir.h"
#include "git/worktree_admin.h"
#include "proto/escape.h"
#include "record/host_fault.h"
#include "record/sync.h"

/* Entries whose removal takes no noticeable time. */
#define REMOVED_AT_ONCE 1000

/* The name of dir during its removal. */
static char *removed_name(const struct git_op *op)
{
	return xasprintf("%s.cleared", op->spec.dir);
}

static int fail_remove(struct git_op *op, const char *path, int rv)
{
	return git_fail(op, xasprintf("%s: cannot be removed: %s; remove it and retry the run", path, host_words(-rv)));
}

/* ---- what is there ---- */

/* 0: dir is a readable work tree; 1: it is gone; -1. */
static int inspect_dir(struct git_op *op)
{
	struct stat st;
	char *git;
	bool own;

	if (lstat(op->spec.dir, &st) == -1 && errno == ENOENT)
		return 1;
	if (lstat(op->spec.dir, &st) == -1 || !S_ISDIR(st.st_mode))
		return git_fail(op, xasprintf("%s is no longer a directory; inspect it, and remove "
		    "it", op->spec.dir));
	git = xasprintf("%s/.git", op->spec.dir);
	own = lstat(git, &st) == 0 && S_ISDIR(st.st_mode);
	if (own)
		git_fail(op, xasprintf("%s cannot be saved because it is a separate repository; "
		    "copy what you need from it, remove it, then retry", git));
	free(git);
	return own ? -1 : 0;
}

/* HEAD of the work tree. Without one, or with an unborn one, the work was on the branch, and git's
 * data about dir are useless. */
static int find_head(struct git_op *op, char **tip, bool *broken_admin)
{
	char *admin = worktree_admin_find(op->common, op->spec.dir), *name;
	int rv = 0;

	op->place = op->spec.dir;
	*broken_admin = admin == NULL || !worktree_admin_points_to(admin, op->common);
	if (!*broken_admin) {
		op->git_dir = xstrdup(admin);
		rv = git_resolve(op, "HEAD^{commit}", tip);
	}
	free(admin);
	if (rv != 0 || *tip != NULL)
		return rv;
	text_set(&op->git_dir, op->common);
	*broken_admin = true;
	name = xasprintf("refs/heads/%s^{commit}", op->result.branch);
	rv = git_resolve(op, name, tip);
	free(name);
	if (rv == 0 && *tip == NULL)
		*tip = xstrdup(op->spec.commit);
	return rv;
}

/* Ignored files are work, too. */
static int list_all(struct git_op *op, unsigned flags)
{
	return git_run(op, flags | GIT_FILES, "ls-files", "-c", "-o", "-s", "-t", "-z");
}

/* All files, by the index of the work tree, or if that is broken by a private one. */
static int list_files(struct git_op *op, const char *tip, bool broken_admin, struct snapshot *s)
{
	int rv = broken_admin ? 1 : list_all(op, GIT_MAY_FAIL);
	char *error;

	if (rv == 1) {
		git_fresh_index(op);
		rv = tip != NULL ? git_run(op, GIT_INDEX, "read-tree", tip) : 0;
		if (rv == 0)
			rv = list_all(op, GIT_INDEX);
	}
	if (rv != 0)
		return -1;
	error = snapshot_list(s, NULL, git_out(op), git_out_size(op));
	return error != NULL ? git_fail(op, error) : 0;
}

/* Whether the index contains everything on the disk. git ignores the content of nested
 * repositories, and names like .GIT. */
static int check_held(struct git_op *op, struct snapshot *s)
{
	char *error, *missed, *shown;

	if (git_run(op, GIT_INDEX, "ls-files", "-z") != 0)
		return -1;
	missed = snapshot_missed(s, git_out(op), git_out_size(op), &error);
	if (missed != NULL) {
		shown = text_escape(missed, strlen(missed), false);
		error = xasprintf("%s/%s cannot be saved because it is a separate repository or "
		    "has a name that git does not allow; copy what you need from it, remove it, "
		    "then retry", op->spec.dir, shown);
		free(shown);
		free(missed);
	}
	return error != NULL ? git_fail(op, error) : 0;
}

/* result.tree: of all files. */
static int take_tree(struct git_op *op, const char *tip, bool broken_admin)
{
	struct snapshot *s = snapshot_new(op->spec.dir, op->spec.scratch, op->artifacts);
	int rv = list_files(op, tip, broken_admin, s);

	/* nested repositories need no look: they all block the removal */
	if (rv == 0)
		rv = disk_tree_stage(op, s, NULL, NULL);
	if (rv == 0)
		rv = check_held(op, s);
	if (rv == 0)
		rv = disk_tree_write(op, 0, &op->result.tree);
	snapshot_free(s);
	return rv;
}

/* ---- would anything be lost? 1: yes; 0; -1 ---- */

/* No file is lost; but HEAD may have commits that no branch has. */
static int loses_commits(struct git_op *op, const char *tip)
{
	if (git_run(op, 0, "rev-list", "--max-count=1", tip, "--not", "--branches", "--tags", "--remotes") != 0)
		return -1;
	return git_out_size(op) > 0;
}

/* A file that neither the disk nor the branch has changed since WORKTREE_ADD is as its filter made
 * it. */
static int loses_changes(struct git_op *op, const char *tip, const struct changes *differs)
{
	struct changes on_disk = { 0 }, on_branch = { 0 };
	char tree[GIT_ID_MAX], commit[GIT_ID_MAX];
	int rv = git_run(op, 0, "for-each-ref", "--format=%(refname) %(objectname)", WORKTREE_COMMIT, WORKTREE_TREE);

	if (rv != 0)
		return -1;
	if (sscanf(git_out(op), WORKTREE_COMMIT " %64[0-9a-f] " WORKTREE_TREE " %64[0-9a-f]", commit, tree) != 2)
		return 1;
	rv = git_diff(op, GIT_INDEX | GIT_MAY_FAIL, tree, op->result.tree, op->artifacts, &on_disk);
	if (rv == 0)
		rv = git_diff(op, GIT_INDEX | GIT_MAY_FAIL, commit, tip, op->artifacts, &on_branch);
	for (size_t i = 0; rv == 0 && i < differs->count; i++)
		rv = changes_find(&on_disk, differs->list[i].path) != NULL ||
		    changes_find(&on_branch, differs->list[i].path) != NULL;
	changes_release(&on_disk);
	changes_release(&on_branch);
	return rv;
}

static int would_lose(struct git_op *op, const char *tip)
{
	struct changes differs = { 0 };
	int rv;

	if (tip == NULL)
		return 1;
	rv = git_diff(op, GIT_INDEX, op->result.tree, tip, op->artifacts, &differs);
	if (rv == 0 && differs.count > 0)
		rv = loses_changes(op, tip, &differs);
	if (rv == 0)
		rv = loses_commits(op, tip);
	changes_release(&differs);
	return rv;
}

static int save_work(struct git_op *op)
{
	char *tip = NULL;
	bool broken_admin;
	int rv = find_head(op, &tip, &broken_admin);

	if (rv == 0)
		rv = take_tree(op, tip, broken_admin);
	if (rv == 0)
		rv = would_lose(op, tip);
	if (rv == 1)
		rv = commit_tree(op, op->result.tree, tip, true);
	free(tip);
	return rv;
}

/* ---- away with it ---- */

/* The directory of the run's work trees is removed with the last of them, unless another is being
 * made. */
static void remove_parent(const struct git_op *op)
{
	char *parent = xmemdup0(op->spec.dir, (size_t)(strrchr(op->spec.dir, '/') - op->spec.dir));

	rmdir(parent);
	free(parent);
}

static int rename_dir(struct git_op *op)
{
	char *rest = removed_name(op);
	int rv = sync_all(op->common);	/* a ref is useless without its objects */

	if (rv == 0)
		rv = remove_dir(rest);	/* of another work tree that was here */
	if (rv == 0 && rename(op->spec.dir, rest) == -1)
		rv = -errno;
	free(rest);
	return rv == 0 ? 0 : fail_remove(op, op->spec.dir, rv);
}

/* dir has been renamed, or does not exist. What takes long is left to WORKTREE_DELETE. */
static int remove_all(struct git_op *op)
{
	char *rest = removed_name(op), *admin = worktree_admin_find(op->common, op->spec.dir);
	int rv = remove_dir_some(rest, REMOVED_AT_ONCE);

	op->result.rest = rv == 1;
	rv = rv == 1 ? 0 : rv;
	if (rv != 0)
		fail_remove(op, rest, rv);
	else if (admin != NULL && (rv = worktree_admin_remove(op->common, admin)) != 0)
		fail_remove(op, admin, rv);
	worktree_admin_prune(op->common, op->spec.dir, false);
	worktree_made(op);
	if (rv == 0)
		remove_parent(op);
	free(rest);
	free(admin);
	return rv == 0 ? 0 : -1;
}

int worktree_delete_run(struct git_op *op)
{
	char *rest = removed_name(op);
	int rv = remove_dir(rest);

	if (rv == 0)
		remove_parent(op);
	else
		git_fail(op, xasprintf("%s: cannot be removed: %s; everything in it is saved: remove it",
		    rest, host_words(-rv)));
	free(rest);
	return rv == 0 ? 0 : -1;
}

/* Remove the branch if it still is at commit, ours, and not checked out. */
static int remove_branch(struct git_op *op)
{
	char *ref = xasprintf("refs/heads/%s", op->result.branch), *want = xasprintf("%s %s \n", ref, op->spec.commit);
	int rv = git_run(op, 0, "for-each-ref", "--format=%(refname) %(objectname) %(worktreepath)", ref);
	bool unchanged = rv == 0 && strncmp(git_out(op), want, strlen(want)) == 0;

	op->result.branch_left = rv == 0 && !unchanged && git_out(op)[0] != '\0';
	if (unchanged && op->spec.instance != NULL) {
		int ours = branch_is_ours(op);

		unchanged = ours == 1;
		rv = ours == -1 ? -1 : 0;
	}
	if (unchanged) {
		/* it does no harm if it stays; everything is saved */
		rv = git_run(op, GIT_MAY_FAIL, "update-ref", "--no-deref", "-d", ref, op->spec.commit);
		rv = rv == 0 && op->spec.instance != NULL ? branch_forget(op) : rv == -1 ? -1 : 0;
	}
	free(want);
	free(ref);
	return rv;
}

int worktree_remove_run(struct git_op *op)
{
	struct saved saved;
	bool there;
	int rv;

	if (git_find_common(op) != 0)
		return -1;
	branch_recall(op);
	op->steady = true;
	rv = inspect_dir(op);
	if (rv == 0)
		rv = save_work(op) == 0 ? rename_dir(op) : -1;
	else if (rv == 1 && (rv = commit_tree_saved(op, &saved, &there)) == 0 && there)
		op->result.commit = xstrdup(saved.id);
	if (rv == 0)
		rv = remove_all(op);
	op->result.branch_left = op->spec.commit == NULL;
	if (rv != 0 || op->spec.commit == NULL)
		return rv;
	text_set(&op->git_dir, NULL);
	op->place = op->spec.workspace;
	return remove_branch(op);
}
