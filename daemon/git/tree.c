/* SPDX-License-Identifier: MIT */
/* From the files of a work tree to a tree of git: SNAPSHOT, and the first half of MEASURE and VERIFY. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "git/gitdir.h"
#include "git/op_int.h"
#include "proto/escape.h"

const char *const empty_trees[2] = {
	"4b825dc642cb6eb9a060e54bf8d69288fbee4904",
	"6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};

bool tree_is_empty(const char *id)
{
	return strcmp(id, empty_trees[0]) == 0 || strcmp(id, empty_trees[1]) == 0;
}

enum stage tree_start(struct git_op *op)
{
	op_fresh_index(op);
	snapshot_free(op->snapshot);
	op->snapshot = snapshot_new(op->place, op->scratch, op->artifacts);
	snapshot_others(op->snapshot, op->others);
	return op->beside != NULL && !op->knows ? STAGE_BESIDE : STAGE_LIST;
}

/* Look once more, then give up. A commit does not look twice: it was looked at before it was begun. Nor does a checkout
 * need it: nobody is left who works there. */
enum stage tree_start_again(struct git_op *op, char *error)
{
	if (op->again || op->looking || op->dir != NULL)
		return op_fail(op, error);
	free(error);
	op->again = true;
	return tree_start(op);
}

enum stage tree_files(struct git_op *op)
{
	/* before a work tree goes, all of them are in the way */
	const char *nested = op->kind == GIT_CLEAR ? NULL : snapshot_nested(op->snapshot);
	char *error;

	free(op->inside);
	op->inside = xstrdup(nested);
	if (nested != NULL)
		return STAGE_HEAD;
	if (op->kind == GIT_BASE)
		return base_files(op);
	error = snapshot_paths(op->snapshot, &op->input);
	return error != NULL ? tree_start_again(op, error) : STAGE_HASH;
}

static enum stage tracked(struct git_op *op, const char *path)
{
	char *shown = text_escape(path, strlen(path), false);
	char *error = xasprintf("%s/%s is tracked by git, but its place is kept for the review and never committed; "
	    "take it out with `git rm -r --cached -- %s`, or set another review_file or review_log", op->workspace, shown, shown);

	free(shown);
	return op_fail(op, error);
}

/* .git aside. One that cannot be looked into is not known to be empty. */
static bool has_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	bool any = dir == NULL && errno != ENOENT;

	while (dir != NULL && !any && (e = readdir(dir)) != NULL)
		any = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && strcmp(e->d_name, ".git") != 0;
	if (dir != NULL)
		closedir(dir);
	return any;
}

/* Nothing is listed of a tree that had something, and the directory has something still. */
static bool is_no_list(const struct git_op *op, size_t size)
{
	bool had = op->given != NULL ? !tree_is_empty(op->given) : git_dir_lists(op->place);

	return size == 0 && op->inside == NULL && had && has_files(op->place);
}

enum stage list_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *error = snapshot_list(op->snapshot, op->inside, data, size);
	const char *artifact = snapshot_tracked_artifact(op->snapshot);

	(void)ok;
	if (error != NULL)
		return op_fail(op, error);
	if (is_no_list(op, size))
		return tree_start_again(op, xasprintf("git ls-files: nothing is listed of %s, which is not empty; see what `git ls-files -c -o --exclude-standard` "
		    "prints there, then retry the run", op->place));
	if (op->kind == GIT_BASE && !base_is_merged(data, size))
		return op_fail(op, xasprintf("%s has conflicts that are not resolved; resolve them, or end what is under way, such as by `git merge --abort`", op->workspace));
	if (artifact == NULL)
		return tree_files(op);
	/* Once the run goes on, an agent that adds one does no harm: it is passed over, unless it commits it. */
	return op->kind == GIT_SNAPSHOT || op->kind == GIT_BASE || op->kind == GIT_WORKTREE ? tracked(op, artifact) : STAGE_IN_HEAD;
}

enum stage in_head_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	const char *artifact = snapshot_tracked_artifact(op->snapshot);
	char *shown, *error;

	(void)data;
	/* it fails where nothing has been committed yet */
	if (!ok || size == 0)
		return tree_files(op);
	shown = text_escape(artifact, strlen(artifact), false);
	error = xasprintf("%s/%s was committed by an agent, but what a review leaves behind is never committed; "
	    "take it out with `git rm -r --cached -- %s` and `git commit --amend`, then retry the run", op->workspace, shown, shown);
	free(shown);
	return op_fail(op, error);
}

enum stage inside_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	return list_done(op, ok, data, size);
}

enum stage head_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *id = ok && size > 1 ? xmemdup0(data, size - 1) : NULL;
	bool list = snapshot_nested_head(op->snapshot, id);

	free(id);
	return list ? STAGE_INSIDE : tree_files(op);
}

enum stage hash_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *error;

	(void)ok;
	error = snapshot_ids(op->snapshot, data, size);
	if (error == NULL)
		error = snapshot_check(op->snapshot);
	if (error != NULL)
		return tree_start_again(op, error);
	if (op->looking)
		return commit_hashed(op);
	if (op->kind != GIT_VERIFY)
		snapshot_leave_out(op->snapshot, &op->unwanted);
	/* of a checkout nobody else knows */
	if (op->others != NULL && op->dir == NULL) {
		op->words = strings_copy(op->others);
		return STAGE_OTHERS;
	}
	snapshot_index(op->snapshot, &op->input);
	return STAGE_INDEX;
}

enum stage others_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	snapshot_index(op->snapshot, &op->input);
	buf_add(&op->input, data, size);
	return STAGE_INDEX;
}

enum stage index_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return op->kind == GIT_CLEAR ? STAGE_HELD : STAGE_TREE;
}

enum stage tree_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (size < 2)
		return op_fail(op, xasprintf("git write-tree: no tree id in %s", op->workspace));
	free(op->tree);
	op->tree = xmemdup0(data, size - 1);
	switch (op->kind) {
	case GIT_SNAPSHOT:
		return op->ref != NULL ? STAGE_PIN : pin_done(op, true, "", 0);
	case GIT_MEASURE:
		return rehearse(op);
	case GIT_VERIFY:
		return verify_tree(op);
	case GIT_BASE:
		return base_written(op);
	case GIT_WORKTREE:
		return STAGE_WORKTREE_HEAD;
	case GIT_CLEAR:
		return clear_written(op);
	case GIT_COMMITTED:
		return committed_tree(op);
	case GIT_MERGE:
		return conflict_written(op);
	case GIT_PIN:
	case GIT_CHECKOUT:
	case GIT_COMMIT:
	case GIT_LOOK:
	case GIT_OPS:
		break;
	}
	return STAGE_NONE;
}
