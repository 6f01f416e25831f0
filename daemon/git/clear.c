/* SPDX-License-Identifier: MIT */
/* CLEAR: the end of a task's work tree. Nothing in it is taken on trust: an agent may have broken its .git, its index or
 * its registration. The files are saved byte for byte, and no filter of the repository runs; so for a file that differs
 * from the branch's, what WORKTREE noted tells whether that is only a filter's doing.
 *
 * Begun again: once the directory has another name, all of it was saved. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/lay.h"
#include "git/op_int.h"
#include "git/registration.h"
#include "git/sync.h"
#include "proto/escape.h"
#include "record/host_fault.h"

/* The name that dir has while it is removed. */
static char *cleared(const struct git_op *op)
{
	return xasprintf("%s.cleared", op->dir);
}

static enum stage trouble(struct git_op *op, const char *path, int rv)
{
	return op_fail(op, xasprintf("%s: cannot be removed: %s; remove it and retry the run", path, host_words(-rv)));
}

/* ---- what is there ---- */

static enum stage head(struct git_op *op)
{
	char *registration = registration_find(op->common, op->dir);

	op->place = op->dir;
	op->astray = registration == NULL || !registration_leads_to(registration, op->common);
	op->git_dir = op->astray ? xstrdup(op->common) : xstrdup(registration);
	free(registration);
	return op->astray ? clear_head_done(op, false, "", 0) : STAGE_CLEAR_HEAD;
}

enum stage clear_start(struct git_op *op)
{
	struct stat st;
	char *git;

	reserve_recall(op);
	if (lstat(op->dir, &st) == -1 && errno == ENOENT) {
		strings_append(&op->words, op->ref);
		return STAGE_CLEAR_KEPT;
	}
	if (lstat(op->dir, &st) == -1 || !S_ISDIR(st.st_mode))
		return op_fail(op, xasprintf("%s is no directory any more; look at it, and remove it", op->dir));
	git = xasprintf("%s/.git", op->dir);
	if (lstat(git, &st) == 0 && S_ISDIR(st.st_mode)) {
		op_fail(op, xasprintf("%s cannot be saved: it is a repository of its own; take out of it what you need, remove it, then retry", git));
		free(git);
		return STAGE_NONE;
	}
	free(git);
	return head(op);
}

/* No HEAD, or an unborn one: the branch is what the work was on. Its index is of no use then. */
enum stage clear_head_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *word;

	if (ok && size > 1) {
		op->tip = xmemdup0(data, size - 1);
		return STAGE_ALL;
	}
	free(op->git_dir);
	op->git_dir = xstrdup(op->common);
	op->astray = true;
	word = xasprintf("refs/heads/%s^{commit}", op->branch);
	strings_append(&op->words, word);
	free(word);
	return STAGE_CLEAR_BRANCH;
}

/* An index of ours in place of the work tree's. */
static enum stage own_index(struct git_op *op)
{
	op_fresh_index(op);
	return op->tip != NULL ? STAGE_CLEAR_READ : STAGE_ALL_OURS;
}

enum stage clear_branch_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	op->tip = ok && size > 1 ? xmemdup0(data, size - 1) : xstrdup(op->given_commit);
	return own_index(op);
}

enum stage clear_read_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_ALL_OURS;
}

enum stage all_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *error;

	if (!ok)
		return own_index(op);	/* the index is broken */
	op_fresh_index(op);
	snapshot_free(op->snapshot);
	op->snapshot = snapshot_new(op->dir, op->scratch, op->artifacts);
	error = snapshot_list(op->snapshot, NULL, data, size);
	return error != NULL ? op_fail(op, error) : tree_files(op);
}

/* Is all that the disk has in the index? git passes over what is in a repository inside, and over names like .GIT. */
enum stage held_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *error, *missed = snapshot_missed(op->snapshot, data, size, &error), *shown;

	(void)ok;
	if (missed != NULL) {
		shown = text_escape(missed, strlen(missed), false);
		error = xasprintf("%s/%s cannot be saved: it is a repository of its own, or has a name that git does not take; "
		    "take out of it what you need, remove it, then retry", op->dir, shown);
		free(shown);
		free(missed);
	}
	return error != NULL ? op_fail(op, error) : STAGE_TREE;
}

/* ---- would anything be lost? ---- */

enum stage clear_written(struct git_op *op)
{
	return op->tip != NULL ? STAGE_CLEAR_DIFF : keep_start(op);
}

/* Nothing of the files; but HEAD may have commits that no branch has. */
static enum stage commits(struct git_op *op)
{
	static const char *const words[] = { "--not", "--branches", "--tags", "--remotes" };

	strings_append(&op->words, op->tip);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		strings_append(&op->words, words[i]);
	return STAGE_LOOSE;
}

static bool read_changes(struct git_op *op, struct changes *changes, const char *data, size_t size)
{
	bool ok = changes_read(changes, data, size, op->artifacts);

	if (!ok)
		op_fail(op, xasprintf("git diff-tree: unexpected output in %s; is git 2.39 or newer?", op->dir));
	return ok;
}

enum stage clear_diff_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (!read_changes(op, &op->wanted, data, size))
		return STAGE_NONE;
	return op->wanted.count > 0 ? STAGE_NOTED : commits(op);
}

/* "ref id" of the commit, then of the tree. */
enum stage noted_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char tree[GIT_ID_MAX], commit[GIT_ID_MAX];

	(void)ok, (void)size;
	if (sscanf(data, WORKTREE_COMMIT " %64[0-9a-f] " WORKTREE_TREE " %64[0-9a-f]", commit, tree) != 2)
		return keep_start(op);
	op->also = xstrdup(commit);
	strings_append(&op->words, tree);
	strings_append(&op->words, op->tree);
	return STAGE_SINCE_TREE;
}

enum stage since_tree_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	if (!ok)
		return keep_start(op);
	if (!read_changes(op, &op->made, data, size))
		return STAGE_NONE;
	strings_append(&op->words, op->also);
	strings_append(&op->words, op->tip);
	free(op->also);
	op->also = NULL;
	return STAGE_SINCE_COMMIT;
}

/* A file that neither the disk nor the branch has changed since is as its filter made it. */
enum stage since_commit_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct changes since = { 0 };
	bool lost = !ok;

	if (!read_changes(op, &since, data, size)) {
		changes_release(&since);
		return STAGE_NONE;
	}
	for (size_t i = 0; i < op->wanted.count && !lost; i++) {
		const char *path = op->wanted.list[i].path;

		lost = changes_find(&op->made, path) != NULL || changes_find(&since, path) != NULL;
	}
	changes_release(&since);
	return lost ? keep_start(op) : commits(op);
}

enum stage loose_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data;
	return size > 0 ? keep_start(op) : clear_saved(op);
}

/* ---- away with it ---- */

/* dir has its other name, or is not there. */
/* The directory of the run's work trees goes with the last of them; making and removing them take turns. */
static void remove_parent(const struct git_op *op)
{
	char *parent = xmemdup0(op->dir, (size_t)(strrchr(op->dir, '/') - op->dir));

	rmdir(parent);
	free(parent);
}

static enum stage sweep(struct git_op *op)
{
	char *rest = cleared(op), *registration = registration_find(op->common, op->dir), *ref;
	int rv = lay_remove(rest);

	if (rv != 0)
		trouble(op, rest, rv);
	else if (registration != NULL && (rv = registration_remove(op->common, registration)) != 0)
		trouble(op, registration, rv);
	registration_sweep(op->common, op->dir, false);
	worktree_made(op);
	if (rv == 0)
		remove_parent(op);
	free(rest);
	free(registration);
	if (rv != 0 || op->given_commit == NULL)
		return STAGE_NONE;
	free(op->git_dir);
	op->git_dir = NULL;
	op->place = op->workspace;
	ref = xasprintf("refs/heads/%s", op->branch);
	strings_append(&op->words, ref);
	free(ref);
	return STAGE_LEFT;
}

enum stage clear_saved(struct git_op *op)
{
	char *rest = cleared(op);
	int rv = sync_all(op->common);	/* a ref means nothing without its objects */

	if (rv == 0)
		rv = lay_remove(rest);	/* of another work tree that was here */
	if (rv == 0 && rename(op->dir, rest) == -1)
		rv = -errno;
	free(rest);
	return rv == 0 ? sweep(op) : trouble(op, op->dir, rv);
}

enum stage clear_kept_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct kept kept;

	(void)ok, (void)size;
	if (kept_read(op, data, &kept))
		op->commit = xstrdup(kept.id);
	return sweep(op);
}

/* "ref commit path of the work tree that has it checked out" */
enum stage left_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *want = xasprintf("refs/heads/%s %s \n", op->branch, op->given_commit);
	bool ours = strncmp(data, want, strlen(want)) == 0;

	(void)ok, (void)size;
	free(want);
	op->branch_left = !ours && data[0] != '\0';
	if (!ours)
		return STAGE_NONE;
	if (op->instance == NULL)
		return clear_branch(op);
	want = xasprintf("branch.%s.rldInstance", op->branch);
	strings_append(&op->words, want);
	free(want);
	return STAGE_CLAIMS;
}

enum stage clear_branch(struct git_op *op)
{
	char *ref = xasprintf("refs/heads/%s", op->branch);

	strings_append(&op->words, ref);
	free(ref);
	strings_append(&op->words, op->given_commit);
	return STAGE_DELETE;
}

enum stage delete_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	return ok && op->instance != NULL ? reserve_forget(op) : STAGE_NONE;
}
