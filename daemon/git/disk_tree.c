/* SPDX-License-Identifier: MIT */
/* Makes a git tree from the files of a directory, byte for byte, with the private index. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "git/base_index.h"
#include "git/evidence_repo.h"
#include "git/gitdir.h"
#include "git/operations.h"
#include "git/stat_cache.h"
#include "proto/escape.h"
#include "record/host_fault.h"

/* files that are hashed before they become one pack instead of an object each */
#define STAGED_MIN 20
#define ABSENT_MAX (256 * 1024 * 1024)

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

static int fail_unmerged(struct git_op *op)
{
	return git_fail(op, xasprintf("%s has unresolved conflicts; resolve them, or abort "
	    "what is in progress, for example with `git merge --abort`", op->spec.workspace));
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

static int check_tracked(struct git_op *op, const char *artifact)
{
	return fail_tracked(op, artifact, "is tracked by git, but is reserved for the review and never",
	    ", or set another review_file or review_log");
}

/* During the run, an agent that adds an artifact does no harm: it is skipped, unless it is
 * committed. */
static int check_committed(struct git_op *op)
{
	/* fails if there is no commit yet */
	int rv = git_run_call(op, &(struct git_call){ .flags = GIT_MAY_FAIL, .more = op->artifacts },
	    "ls-tree", "-z", "--name-only", "--full-tree", "HEAD", "--", NULL);
	char *artifact;

	if (rv != 0 || git_out_size(op) == 0)
		return rv == -1 ? -1 : 0;
	artifact = xstrdup(git_out(op));
	fail_tracked(op, artifact, "was committed by an agent, but review files are never",
	    " and `git commit --amend`, then retry the run");
	free(artifact);
	return -1;
}

static int check_artifacts(struct git_op *op, const char *tracked)
{
	enum git_op_kind kind = op->spec.kind;
	bool begins = kind == GIT_SNAPSHOT || kind == GIT_BASE || kind == GIT_WORKTREE_ADD;

	if (begins)
		return tracked != NULL ? check_tracked(op, tracked) : 0;
	/* the base, by which this went, has none; the user's index may */
	if (op->objects != NULL && op->artifacts != NULL) {
		if (git_run_call(op, &(struct git_call){ .more = op->artifacts }, "ls-files", "-z", "--", NULL) != 0)
			return -1;
		tracked = git_out_size(op) > 0 ? git_out(op) : NULL;
	}
	return tracked != NULL ? check_committed(op) : 0;
}

/* ---- nested repositories ---- */

/* Whether .gitmodules says that it is a submodule. */
static int is_declared(struct git_op *op, const char *nested, const char *place)
{
	int rv = git_run_call(op, &(struct git_call){ .flags = GIT_EVIDENCE | GIT_MAY_FAIL, .place = place },
	    "config", "-z", "-f", ".gitmodules", "--get-regexp", "^submodule\\..*\\.path$", NULL);
	bool yes = false;

	/* "name LF path NUL" */
	for (const char *p = git_out(op), *end = p + git_out_size(op); rv == 0 && p < end && !yes; p += strlen(p) + 1) {
		const char *path = strchr(p, '\n');

		yes = path != NULL && strcmp(path + 1, nested) == 0;
	}
	return rv == -1 ? -1 : yes;
}

/* data: records "? path", relative to nested; kept gets those that no .gitignore file outside of
 * nested names. */
static int drop_ignored(struct git_op *op, const char *nested, const char *place, const struct buf *data,
    struct buf *kept)
{
	struct git_call call = { .flags = GIT_EVIDENCE | GIT_FILES | GIT_MAY_FAIL, .place = place };
	struct buf paths = { 0 };
	const char *ignored, *end;
	int rv;

	for (size_t i = 0; i < data->size; i += strlen(data->data + i) + 1) {
		buf_addf(&paths, "%s/%s", nested, data->data + i + 2);
		buf_add(&paths, "", 1);
	}
	call.input = paths.data;
	call.input_size = paths.size;
	rv = git_run_call(op, &call, "check-ignore", "--no-index", "-z", "--stdin", NULL);
	/* exit status 1: none */
	if (rv == 1 && op->end.err.size > 0)
		rv = git_fail_process(op);
	ignored = git_out(op);
	end = ignored + git_out_size(op);
	for (size_t i = 0, at = 0; rv != -1 && i < data->size; ) {
		size_t record = strlen(data->data + i) + 1, path = strlen(paths.data + at) + 1;

		if (ignored < end && strcmp(ignored, paths.data + at) == 0)
			ignored += path;
		else
			buf_add(kept, data->data + i, record);
		i += record;
		at += path;
	}
	buf_release(&paths);
	return rv == -1 ? -1 : 0;
}

/* The files of a repository that is new, without its own settings. */
static int list_files_of(struct git_op *op, struct snapshot *s, const char *nested, const char *place)
{
	char *dir = xasprintf("%s/%s", place != NULL ? place : op->place, nested), *error;
	struct git_call call = { .flags = GIT_EVIDENCE | GIT_INDEX | GIT_FILES | GIT_MOVING, .place = dir };
	struct buf data = { 0 }, kept = { 0 };
	int rv;

	git_fresh_index(op);
	rv = git_run_call(op, &call, "ls-files", "-o", "-t", "-z", "--exclude-standard", NULL);
	if (rv == 0)
		buf_add(&data, git_out(op), git_out_size(op));
	if (rv == 0 && data.size > 0)
		rv = drop_ignored(op, nested, place, &data, &kept);
	error = rv == 0 && kept.size > 0 ? snapshot_list(s, nested, kept.data, kept.size) : NULL;
	if (error != NULL)
		rv = git_fail(op, error);
	buf_release(&data);
	buf_release(&kept);
	free(dir);
	return rv;
}

/* HEAD of a nested repository, malloc'd; *id NULL: it has no commit. */
static int nested_head(struct git_op *op, const char *nested, const char *place, char **id)
{
	char *dir = xasprintf("%s/.git", nested);
	int rv = git_run_call(op, &(struct git_call){ .flags = GIT_MAY_FAIL, .git_dir = dir,
	    .place = place }, "rev-parse", "--verify", "-q", "HEAD", NULL);

	free(dir);
	*id = rv == 0 ? git_out_line(op) : NULL;
	return rv == -1 ? -1 : 0;
}

/* A submodule is its commit. A repository that is none contributes its files; by the rules of the
 * user's repository, it is its commit, too, if it has one. */
static int list_nested(struct git_op *op, struct snapshot *s, const char *nested, const char *place)
{
	bool files = op->objects != NULL && !snapshot_nested_tracked(s);
	char *id = NULL, *error;
	int rv = files ? is_declared(op, nested, place) : 0;

	if (rv == -1)
		return -1;
	if (files && rv == 0) {
		snapshot_nested_head(s, NULL);
		return list_files_of(op, s, nested, place);
	}
	rv = nested_head(op, nested, place, &id);
	if (rv == 0 && snapshot_nested_head(s, id)) {
		rv = git_run_call(op, &(struct git_call){ .flags = GIT_FILES | GIT_MOVING,
		    .inside = nested, .place = place },
		    "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard", NULL);
		error = rv == 0 ? snapshot_list(s, nested, git_out(op), git_out_size(op)) : NULL;
		if (error != NULL)
			rv = git_fail(op, error);
	}
	free(id);
	return rv;
}

static int add_nested(struct git_op *op, struct snapshot *s, const char *place)
{
	struct names modules = { 0 };
	const char *nested;
	int rv = 0;

	while (rv == 0 && (nested = snapshot_nested(s)) != NULL) {
		char *name = xstrdup(nested);

		if (snapshot_nested_tracked(s))
			names_add(&modules, name);
		rv = list_nested(op, s, name, place);
		free(name);
	}
	free(op->result.modules);
	op->result.modules = names_take(&modules);
	return rv;
}

/* ---- the list, by the rules of the user's repository, or those copied at submit ---- */

/* Whether the user's index says what is tracked: before an agent has worked, or after we have set
 * it. Else the base does. */
static bool goes_by_index(const struct git_op *op)
{
	enum git_op_kind kind = op->spec.kind;

	return op->objects == NULL || kind == GIT_WORKTREE_ADD || kind == GIT_MERGE ||
	    (kind == GIT_SNAPSHOT && op->spec.tree == NULL);
}

/* What the base of the work was. */
static const char *base_of(const struct git_op *op)
{
	return op->spec.kind == GIT_MEASURE || op->spec.kind == GIT_SNAPSHOT ? op->spec.tree : op->spec.base;
}

/* Paths that were not checked out when the user's index was read: they stay as they were. */
static char *absent_file(const struct git_op *op)
{
	char hex[DIGEST_HEX], *name, *file;

	digest_hex(op->place, strlen(op->place), hex);
	name = xasprintf("absent-%.16s", hex);
	file = evidence_file(op, name);
	free(name);
	return file;
}

/* Their objects must be there, too. */
static int keep_absent(struct git_op *op, const struct snapshot *s)
{
	struct buf names = { 0 }, ids = { 0 };
	char *file = absent_file(op);
	int rv = 0;

	snapshot_absent(s, &names, &ids);
	if (names.size > 0)
		rv = file_write(AT_FDCWD, file, names.data, names.size, 0600, true);
	else if (unlink(file) == -1 && errno != ENOENT)
		rv = -errno;
	if (rv != 0)
		rv = git_fail(op, xasprintf("%s: %s", file, host_words(-rv)));
	else
		rv = evidence_take(op, &ids);
	free(file);
	buf_release(&names);
	buf_release(&ids);
	return rv;
}

static int read_absent(struct git_op *op, struct snapshot *s)
{
	char *file = absent_file(op), *data = NULL;
	size_t size = 0;
	int rv = file_read(AT_FDCWD, file, ABSENT_MAX, &data, &size);

	if (rv == 0)
		snapshot_set_absent(s, data, size);
	else if (rv != -ENOENT)
		git_fail(op, xasprintf("%s: %s", file, host_words(-rv)));
	free(data);
	free(file);
	return rv == 0 || rv == -ENOENT ? 0 : -1;
}

static int list_output(struct git_op *op, struct snapshot *s)
{
	char *error = snapshot_list(s, NULL, git_out(op), git_out_size(op));

	return error != NULL ? git_fail(op, error) : 0;
}

/* The private index gets what the user's has: lines "H mode id stage<TAB>path". */
static int copy_tracked(struct git_op *op)
{
	struct buf lines = { 0 };

	for (const char *p = git_out(op), *end = p + git_out_size(op); p < end; p += strlen(p) + 1)
		if (p[0] != '\0' && p[1] == ' ')
			buf_add(&lines, p + 2, strlen(p + 2) + 1);
	git_fresh_index(op);
	return git_update_index(op, GIT_EVIDENCE | GIT_INDEX, &lines);
}

/* *listed: bytes of git's output. */
static int list_by_index(struct git_op *op, struct snapshot *s, size_t *listed)
{
	int rv = git_run(op, GIT_FILES | GIT_MOVING, "ls-files", "-c", "-s", "-t", "-z");

	*listed = git_out_size(op);
	if (rv == 0)
		rv = list_output(op, s);
	if (rv == 0)
		rv = copy_tracked(op);
	if (rv == 0)
		rv = git_run(op, GIT_EVIDENCE | GIT_INDEX | GIT_FILES | GIT_MOVING, "ls-files", "-o",
		    "-t", "-z", "--exclude-standard");
	*listed += rv == 0 ? git_out_size(op) : 0;
	if (rv == 0)
		rv = list_output(op, s);
	return rv == 0 ? keep_absent(op, s) : -1;
}

static int list_by_base(struct git_op *op, struct snapshot *s, size_t *listed)
{
	int rv = read_absent(op, s);

	if (rv == 0)
		rv = base_index_read(op, base_of(op));
	if (rv == 0)
		rv = git_run(op, GIT_EVIDENCE | GIT_INDEX | GIT_FILES | GIT_MOVING, "ls-files", "-c",
		    "-o", "-s", "-t", "-z", "--exclude-standard");
	*listed = git_out_size(op);
	return rv == 0 ? list_output(op, s) : -1;
}

static int list_all(struct git_op *op, struct snapshot *s, size_t *listed)
{
	int rv = git_run(op, GIT_FILES | GIT_MOVING, "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard");

	*listed = git_out_size(op);
	if (op->spec.kind == GIT_BASE && rv == 0 && !is_merged(git_out(op), git_out_size(op)))
		return fail_unmerged(op);
	return rv == 0 ? list_output(op, s) : -1;
}

int disk_tree_list(struct git_op *op, struct snapshot *s)
{
	size_t listed;
	int rv = op->objects == NULL ? list_all(op, s, &listed) :
	    goes_by_index(op) ? list_by_index(op, s, &listed) : list_by_base(op, s, &listed);

	if (rv != 0)
		return -1;
	if (is_no_list(op, listed))
		return git_fail_moved(op, xasprintf("git ls-files: no output for %s, which is not "
		    "empty; see what `git ls-files -c -o --exclude-standard` prints there, then "
		    "retry the run", op->place));
	if (check_artifacts(op, snapshot_tracked_artifact(s)) != 0)
		return -1;
	return add_nested(op, s, NULL);
}

int disk_tree_add(struct git_op *op, struct snapshot *s, const struct changes *files, const char *place)
{
	char *error = snapshot_add(s, files);

	return error != NULL ? git_fail(op, error) : add_nested(op, s, place);
}

static size_t lines_in(const struct buf *text)
{
	size_t count = 0;

	for (size_t i = 0; i < text->size; i++)
		count += text->data[i] == '\n';
	return count;
}

/* Ids of the files of paths, one per line. */
static int hash_paths(struct git_op *op, const struct buf *paths, const char *git_dir, const char *place,
    struct buf *ids)
{
	struct git_call call = { .flags = GIT_EVIDENCE | GIT_FILES | GIT_MOVING,
	    .input = paths->data, .input_size = paths->size, .git_dir = git_dir, .place = place };
	bool staged = false;
	int rv = lines_in(paths) >= STAGED_MIN ? evidence_stage_begin(op, &staged) : 0;

	call.flags |= staged ? GIT_STAGED : 0;
	if (rv == 0)
		rv = git_run_call(op, &call, "hash-object", "-w", "--no-filters", "--stdin-paths", NULL);
	if (rv == 0)
		buf_add(ids, git_out(op), git_out_size(op));
	if (staged && evidence_stage_end(op, ids->data, ids->size) != 0)
		rv = -1;
	return rv;
}

int disk_tree_hash(struct git_op *op, struct snapshot *s, const char *git_dir, const char *place)
{
	struct buf paths = { 0 }, ids = { 0 };
	char *error = snapshot_paths(s, &paths);
	int rv = error == NULL && paths.size > 0 ? hash_paths(op, &paths, git_dir, place, &ids) : 0;

	/* without paths all ids are known, or there is no file */
	if (rv == 0 && error == NULL && paths.size > 0)
		error = snapshot_ids(s, ids.data, ids.size);
	if (rv == 0 && error == NULL)
		error = snapshot_check(s);
	if (rv == 0 && error == NULL)
		snapshot_save_cache(s);
	buf_release(&ids);
	buf_release(&paths);
	if (rv != 0)
		return -1;
	return error == NULL ? 0 : git_fail_moved(op, error);
}

void disk_tree_use_cache(struct git_op *op, struct snapshot *s, const char *place)
{
	char *name, *file;

	if (op->objects == NULL)
		return;
	name = stat_cache_name(place);
	file = evidence_file(op, name);
	snapshot_use_cache(s, file);
	free(file);
	free(name);
}

/* update-index skips names that no tree may have, such as .GIT, and says so. */
static int note_unfit(struct git_op *op)
{
	static const char sign[] = "Ignoring path ";
	enum git_op_kind kind = op->spec.kind;
	struct names names = { 0 };
	char *said = xmemdup0(op->end.err.data != NULL ? op->end.err.data : "", op->end.err.size), *rest = said, *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (strncmp(line, sign, strlen(sign)) == 0)
			names_add(&names, line + strlen(sign));
	free(said);
	free(op->result.unfit);
	op->result.unfit = names_take(&names);
	if (op->result.unfit == NULL || (kind != GIT_SNAPSHOT && kind != GIT_WORKTREE_ADD))
		return 0;
	return git_fail(op, xasprintf("%s contains names that git does not allow: %s; rename them, or add them to "
	    ".gitignore", op->place, op->result.unfit));
}

/* Its files are hashed. */
static int stage(struct git_op *op, const struct snapshot *s)
{
	struct buf lines = { 0 };

	git_fresh_index(op);
	snapshot_index(s, &lines);
	if (git_update_index(op, GIT_EVIDENCE | GIT_INDEX, &lines) != 0)
		return -1;
	return op->objects != NULL ? note_unfit(op) : 0;
}

int disk_tree_stage(struct git_op *op, struct snapshot *s, const char *git_dir, const char *place)
{
	return disk_tree_hash(op, s, git_dir, place) == 0 ? stage(op, s) : -1;
}

int disk_tree_write(struct git_op *op, unsigned where, char **tree)
{
	/* missing-ok: every object was just written or is the repository's own; a partial clone
	 * must not fetch */
	if (git_run(op, where | GIT_INDEX, "write-tree", "--missing-ok") != 0)
		return -1;
	free(*tree);
	*tree = git_out_line(op);
	return *tree != NULL ? 0 : git_fail(op, xasprintf("git write-tree: no tree id in %s", op->spec.workspace));
}

/* ---- all of it ---- */

struct disk_tree {
	const struct changes *leave_out, *expected;
	char **tree;
};

/* Put the shared paths into the private index, as in a tree. */
static int stage_shared_paths(struct git_op *op)
{
	const char *tree = op->spec.shared_paths_tree != NULL ? op->spec.shared_paths_tree : op->spec.tree;
	struct git_call call = { .flags = GIT_EVIDENCE, .more = op->shared_paths };
	struct buf lines = { 0 };

	if (git_run_call(op, &call, "ls-tree", "-r", "-z", "--full-tree", tree, "--", NULL) != 0)
		return -1;
	buf_add(&lines, git_out(op), git_out_size(op));
	return git_update_index(op, GIT_EVIDENCE | GIT_INDEX, &lines);
}

static int write_disk_tree(struct git_op *op, const struct snapshot *s, char **tree)
{
	int rv = stage(op, s);

	if (rv == 0 && op->shared_paths != NULL)
		rv = stage_shared_paths(op);
	return rv == 0 ? disk_tree_write(op, GIT_EVIDENCE, tree) : -1;
}

static int take_disk_tree(struct git_op *op, void *arg)
{
	const struct disk_tree *d = arg;
	struct snapshot *s = snapshot_new(op->place, op->spec.scratch, op->artifacts);
	int rv;

	snapshot_shared_paths(s, op->shared_paths);
	snapshot_leave_out(s, d->leave_out);
	disk_tree_use_cache(op, s, op->place);
	rv = disk_tree_list(op, s);
	if (rv == 0)
		rv = disk_tree_hash(op, s, NULL, NULL);
	if (rv == 0 && d->expected != NULL && op->shared_paths == NULL && snapshot_has_only(s, d->expected))
		text_set(d->tree, op->spec.tree);
	else if (rv == 0)
		rv = write_disk_tree(op, s, d->tree);
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

int disk_tree_or_same(struct git_op *op, const struct changes *expected, char **tree)
{
	struct disk_tree d = { .expected = expected, .tree = tree };

	return disk_tree_twice(op, take_disk_tree, &d);
}

int disk_tree(struct git_op *op, const struct changes *leave_out, char **tree)
{
	struct disk_tree d = { .leave_out = leave_out, .tree = tree };

	return disk_tree_twice(op, take_disk_tree, &d);
}
