/* SPDX-License-Identifier: MIT */
/* Makes a git tree from the files of a directory, byte for byte, with the private index. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "git/gitdir.h"
#include "git/operations.h"
#include "proto/escape.h"
#include "record/host_fault.h"

const char *const empty_trees[2] = {
	"4b825dc642cb6eb9a060e54bf8d69288fbee4904",
	"6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};

bool tree_is_empty(const char *id)
{
	return strcmp(id, empty_trees[0]) == 0 || strcmp(id, empty_trees[1]) == 0;
}

/* ---- what is there ---- */

/* Without .git. An unreadable one is not known to be empty. */
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

/* Nothing is listed of a tree that was not empty, and the directory is still not empty. */
static bool is_no_list(const struct git_op *op, size_t size)
{
	bool had = op->spec.tree != NULL ? !tree_is_empty(op->spec.tree) : git_dir_lists(op->place);

	return size == 0 && had && has_files(op->place);
}

/* False: an unfinished merge. */
static bool is_merged(const char *data, size_t size)
{
	for (const char *p = data, *end = data + size; p < end; p += strlen(p) + 1)
		if (p[0] == 'M' && p[1] == ' ')
			return false;
	return true;
}

/* what: why it must not be in the index, and what to do. */
static int fail_tracked(struct git_op *op, const char *path, const char *what, const char *then)
{
	char *shown = text_escape(path, strlen(path), false);

	git_fail(op, xasprintf("%s/%s %s committed; remove it with `git rm -r --cached -- %s`%s",
	    op->spec.workspace, shown, what, shown, then));
	free(shown);
	return -1;
}

/* During the run, an agent that adds an artifact does no harm: it is skipped, unless it is
 * committed. */
static int check_artifact(struct git_op *op, const char *artifact)
{
	enum git_op_kind kind = op->spec.kind;
	int rv;

	if (kind == GIT_SNAPSHOT || kind == GIT_BASE || kind == GIT_WORKTREE_ADD)
		return fail_tracked(op, artifact,
		    "is tracked by git, but is reserved for the review and never",
		    ", or set another review_file or review_log");
	/* fails if there is no commit yet */
	rv = git_run(op, GIT_MAY_FAIL, "ls-tree", "-z", "--name-only", "--full-tree", "HEAD", "--", artifact);
	if (rv != 0 || git_out_size(op) == 0)
		return rv == -1 ? -1 : 0;
	return fail_tracked(op, artifact,
	    "was committed by an agent, but review files are never",
	    " and `git commit --amend`, then retry the run");
}

/* HEAD of a nested repository; one without a commit contributes its files. */
static int list_nested(struct git_op *op, struct snapshot *s, const char *nested, const char *place)
{
	char *dir = xasprintf("%s/.git", nested), *id, *error;
	int rv = git_run_call(op, &(struct git_call){ .flags = GIT_MAY_FAIL, .git_dir = dir,
	    .place = place }, "rev-parse", "--verify", "-q", "HEAD", NULL);

	free(dir);
	if (rv == -1)
		return -1;
	id = rv == 0 ? git_out_line(op) : NULL;
	if (snapshot_nested_head(s, id)) {
		rv = git_run_call(op, &(struct git_call){ .flags = GIT_FILES | GIT_MOVING,
		    .inside = nested, .place = place },
		    "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard", NULL);
		error = rv == 0 ? snapshot_list(s, nested, git_out(op), git_out_size(op)) : NULL;
		if (error != NULL)
			rv = git_fail(op, error);
	} else {
		rv = 0;
	}
	free(id);
	return rv;
}

static int add_nested(struct git_op *op, struct snapshot *s, const char *place)
{
	const char *nested;
	int rv = 0;

	while (rv == 0 && (nested = snapshot_nested(s)) != NULL) {
		char *name = xstrdup(nested);

		rv = list_nested(op, s, name, place);
		free(name);
	}
	return rv;
}

int disk_tree_list(struct git_op *op, struct snapshot *s)
{
	const char *artifact;
	char *error;

	if (git_run(op, GIT_FILES | GIT_MOVING, "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard") != 0)
		return -1;
	error = snapshot_list(s, NULL, git_out(op), git_out_size(op));
	if (error != NULL)
		return git_fail(op, error);
	if (is_no_list(op, git_out_size(op)))
		return git_fail_moved(op, xasprintf("git ls-files: no output for %s, which is not "
		    "empty; see what `git ls-files -c -o --exclude-standard` prints there, then "
		    "retry the run", op->place));
	if (op->spec.kind == GIT_BASE && !is_merged(git_out(op), git_out_size(op)))
		return git_fail(op, xasprintf("%s has unresolved conflicts; resolve them, or abort "
		    "what is in progress, for example with `git merge --abort`", op->spec.workspace));
	artifact = snapshot_tracked_artifact(s);
	if (artifact != NULL && check_artifact(op, artifact) != 0)
		return -1;
	return add_nested(op, s, NULL);
}

int disk_tree_add(struct git_op *op, struct snapshot *s, const struct changes *files, const char *place)
{
	char *error = snapshot_add(s, files);

	return error != NULL ? git_fail(op, error) : add_nested(op, s, place);
}

int disk_tree_hash(struct git_op *op, struct snapshot *s, const char *git_dir, const char *place)
{
	struct buf paths = { 0 };
	char *error = snapshot_paths(s, &paths);
	int rv = 0;

	if (error == NULL) {
		struct git_call call = { .flags = GIT_FILES | GIT_MOVING,
		    .input = paths.data != NULL ? paths.data : "", .input_size = paths.size,
			.git_dir = git_dir, .place = place };

		rv = git_run_call(op, &call, "hash-object", "-w", "--no-filters", "--stdin-paths", NULL);
	}
	buf_release(&paths);
	if (rv != 0)
		return -1;
	if (error == NULL)
		error = snapshot_ids(s, git_out(op), git_out_size(op));
	if (error == NULL)
		error = snapshot_check(s);
	return error == NULL ? 0 : git_fail_moved(op, error);
}

int disk_tree_stage(struct git_op *op, struct snapshot *s, const char *git_dir, const char *place)
{
	struct buf lines = { 0 };

	git_fresh_index(op);
	if (disk_tree_hash(op, s, git_dir, place) != 0)
		return -1;
	snapshot_index(s, &lines);
	return git_update_index(op, GIT_INDEX, &lines);
}

int disk_tree_write(struct git_op *op, char **tree)
{
	/* missing-ok: every object was just written or is the repository's own; a partial clone
	 * must not fetch */
	if (git_run(op, GIT_INDEX, "write-tree", "--missing-ok") != 0)
		return -1;
	free(*tree);
	*tree = git_out_line(op);
	return *tree != NULL ? 0 : git_fail(op, xasprintf("git write-tree: no tree id in %s", op->spec.workspace));
}

/* ---- all of it ---- */

struct disk_tree {
	const struct changes *leave_out;
	char **tree;
};

/* Put the shared paths into the private index, as in a tree. */
static int stage_shared_paths(struct git_op *op)
{
	struct buf lines = { 0 };

	if (git_run_call(op, &(struct git_call){ .more = op->shared_paths }, "ls-tree", "-r", "-z", "--full-tree",
	    op->spec.shared_paths_tree != NULL ? op->spec.shared_paths_tree : op->spec.tree, "--", NULL) != 0)
		return -1;
	buf_add(&lines, git_out(op), git_out_size(op));
	return git_update_index(op, GIT_INDEX, &lines);
}

static int take_disk_tree(struct git_op *op, void *arg)
{
	const struct disk_tree *d = arg;
	struct snapshot *s = snapshot_new(op->place, op->spec.scratch, op->artifacts);
	int rv;

	snapshot_shared_paths(s, op->shared_paths);
	snapshot_leave_out(s, d->leave_out);
	rv = disk_tree_list(op, s);
	if (rv == 0)
		rv = disk_tree_stage(op, s, NULL, NULL);
	if (rv == 0 && op->shared_paths != NULL)
		rv = stage_shared_paths(op);
	if (rv == 0)
		rv = disk_tree_write(op, d->tree);
	snapshot_free(s);
	return rv;
}

int disk_tree_twice(struct git_op *op, int (*take)(struct git_op *op, void *arg), void *arg)
{
	int rv = take(op, arg);

	if (rv == 0 || !op->moved || op->tried_twice || op->steady)
		return rv;
	op->tried_twice = true;
	op->moved = false;
	host_noted();
	return take(op, arg);
}

int disk_tree(struct git_op *op, const struct changes *leave_out, char **tree)
{
	struct disk_tree d = { leave_out, tree };

	return disk_tree_twice(op, take_disk_tree, &d);
}
