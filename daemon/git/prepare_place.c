/* SPDX-License-Identifier: MIT */
/* PREPARE: a new work tree or room gets files that git ignores in the user's directory; then its
 * tracked files are as in its tree, whatever a set-up has done to them. No link is followed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/checkout.h"
#include "git/copied_files.h"
#include "git/gitdir.h"
#include "git/path_pattern.h"
#include "git/place_path.h"
#include "git/prepared_room.h"
#include "git/remove_dir.h"
#include "git/room_git.h"
#include "git/room_judges.h"
#include "git/room_note.h"
#include "git/verified.h"
#include "record/host_fault.h"

#define MODE_REPOSITORY 0160000

/* ---- restore ---- */

static int write_blob(struct git_op *op, int dir, const struct change *e)
{
	struct verified_id sum;
	char *text, id[GIT_ID_MAX];
	int fd, rv;

	if (git_run(op, GIT_EVIDENCE, "cat-file", "blob", e->id) != 0)
		return -EIO;
	verified_begin(&sum, "blob", git_out_size(op), e->id);
	verified_add(&sum, git_out(op), git_out_size(op));
	verified_end(&sum, id);
	if (strcmp(id, e->id) != 0) {
		git_fail(op, verified_error(op, GIT_EVIDENCE, e->id));
		return -EIO;
	}
	if (S_ISLNK(e->mode)) {
		text = xmemdup0(git_out(op), git_out_size(op));
		rv = place_link(dir, place_name(e->path), text);
		free(text);
		return rv;
	}
	rv = place_create(dir, place_name(e->path), (e->mode & S_IXUSR) != 0 ? 0777 : 0666, &fd);
	if (rv != 0)
		return rv;
	rv = place_write(fd, git_out(op), git_out_size(op));
	if (close(fd) == -1 && rv == 0)
		rv = -errno;
	return rv;
}

/* Remove what is a directory in place of the file, or no directory in place of one above it. 0 or
 * -errno. */
static int clear_way(const char *top, const char *path)
{
	char *place = xasprintf("%s/%s", top, path), *end = place + strlen(top);
	struct stat st;
	bool above = true;
	int rv = 0;

	while (rv == 0 && above) {
		end += 1 + strcspn(end + 1, "/");
		above = *end == '/';
		*end = '\0';
		if (lstat(place, &st) == -1) {
			rv = errno == ENOENT ? 0 : -errno;
			break;
		}
		if (S_ISDIR(st.st_mode) != above) {
			rv = remove_dir(place);
			break;
		}
		if (above)
			*end = '/';
	}
	free(place);
	return rv;
}

static int restore_one(struct git_op *op, const struct change *e)
{
	int rv = clear_way(op->spec.dir, e->path), dir = rv == 0 ? place_parent(op->spec.dir, e->path) : rv;

	if (dir >= 0) {
		rv = write_blob(op, dir, e);
		close(dir);
	} else {
		rv = dir;
	}
	if (rv == 0 || op->result.error != NULL)
		return rv == 0 ? 0 : -1;
	return place_fail(op, op->spec.dir, e->path, host_words(-rv));
}

/* The tree of the tracked files as they are. */
static int tree_now(struct git_op *op, const struct changes *entries)
{
	struct snapshot *s = snapshot_new(op->spec.dir, op->spec.scratch, NULL);
	char *own = git_dir_own(op->spec.workspace);
	int rv;

	disk_tree_use_cache(op, s, op->spec.dir);
	rv = disk_tree_add(op, s, entries, op->spec.dir);
	if (rv == 0)
		rv = disk_tree_stage(op, s, own != NULL ? own : op->spec.workspace, op->spec.dir);
	if (rv == 0)
		rv = disk_tree_write(op, GIT_EVIDENCE, &op->result.tree);
	snapshot_free(s);
	free(own);
	return rv;
}

static int restore_tracked(struct git_op *op, const char *tree, const struct changes *entries)
{
	struct changes changes = { 0 };
	struct names names = { 0 };
	int rv = tree_now(op, entries);

	if (rv == 0 && strcmp(op->result.tree, tree) != 0)
		rv = git_diff(op, GIT_EVIDENCE | GIT_INDEX, tree, op->result.tree, NULL, &changes);
	for (size_t i = 0; rv == 0 && i < changes.count; i++) {
		const struct change *e = changes_find(entries, changes.list[i].path);

		if (e == NULL || e->mode == MODE_REPOSITORY)
			continue;
		rv = restore_one(op, e);
		names_add(&names, e->path);
	}
	op->result.changed = names_take(&names);
	changes_release(&changes);
	return rv;
}

/* ---- prepared rooms ---- */

/* What is not as on the base must be newer than what the set-up has built there: make(1) goes by
 * that. */
static int renew(struct git_op *op, const struct changes *changes)
{
	int rv = 0;

	for (size_t i = 0; rv == 0 && i < changes->count; i++) {
		const struct change *c = &changes->list[i];
		int dir = c->mode != 0 ? place_existing_parent(op->spec.dir, c->path) : -ENOENT;

		if (dir >= 0) {
			if (utimensat(dir, place_name(c->path), NULL, AT_SYMLINK_NOFOLLOW) == -1 && errno != ENOENT)
				rv = place_fail(op, op->spec.dir, c->path, host_words(errno));
			close(dir);
		}
	}
	return rv;
}

/* Whether the set-up would make something else of tree. */
static bool has_other_inputs(const struct git_op *op, const struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++)
		if (path_matches(changes->list[i].path, op->spec.setup_inputs))
			return true;
	return false;
}

/* The set-up that ran in the room for the tree was, if it is not NULL, is kept. */
static int keep_setup(struct git_op *op, const char *was, const char *tree)
{
	struct changes changes = { 0 };
	int rv = strcmp(was, tree) == 0 ? 0 : verified_difference(op, was, tree);

	if (rv == 0 && strcmp(was, tree) != 0)
		rv = git_diff(op, GIT_EVIDENCE, was, tree, NULL, &changes);
	if (rv == 0 && !has_other_inputs(op, &changes))
		op->result.prepared = GIT_ROOM_READY;
	else
		room_note_remove(op, ROOM_SETUP);
	changes_release(&changes);
	return rv;
}

/* *cloned: the place has what copy brings as well. */
static int clone(struct git_op *op, const char *tree, const struct changes *entries, bool *cloned)
{
	bool same = strcmp(tree, op->spec.base) == 0;
	struct changes changes = { 0 };
	int rv = copied_files_hash(op);

	*cloned = false;
	if (rv == 0)
		rv = prepared_clone(op, op->result.copied, entries);
	if (rv == 1 && !same)
		op->result.prepared = GIT_ROOM_MISSING;
	if (rv != 0)
		return rv == 1 ? 0 : -1;
	*cloned = true;
	rv = same ? 0 : verified_difference(op, op->spec.base, tree);
	if (rv == 0 && !same)
		rv = git_diff(op, GIT_EVIDENCE, op->spec.base, tree, NULL, &changes);
	if (rv == 0 && !has_other_inputs(op, &changes))
		op->result.prepared = GIT_ROOM_READY;
	if (rv == 0)
		rv = renew(op, &changes);
	changes_release(&changes);
	return rv;
}

/* The tree for which the set-up of key ran in the room last, malloc'd; NULL: none. */
static char *setup_tree(const struct git_op *op, const char *key)
{
	char *text = room_note_read(op, ROOM_SETUP), *tree = NULL;
	size_t length = strlen(key);

	if (text != NULL && strncmp(text, key, length) == 0 && text[length] == ' ')
		tree = xstrdup(text + length + 1);
	free(text);
	return tree;
}

static void note_setup(const struct git_op *op, const char *key, const char *tree)
{
	char *text = xasprintf("%s %s", key, tree);

	room_note_write(op, ROOM_SETUP, text);
	free(text);
}

/* As clone(), for a room that is reused. */
static int clone_or_keep(struct git_op *op, const char *tree, const struct changes *entries, bool *cloned)
{
	int rv = op->spec.reuses ? copied_files_hash(op) : 0;
	char *key = prepared_key(op, op->result.copied),
	    *was = op->spec.reuses && rv == 0 ? setup_tree(op, key) : NULL;

	if (rv == 0 && was == NULL)
		rv = clone(op, tree, entries, cloned);
	else if (rv == 0)
		rv = keep_setup(op, was, tree);
	*cloned |= was != NULL;
	if (op->spec.reuses && rv == 0 && op->result.prepared == GIT_ROOM_READY)
		note_setup(op, key, tree);
	free(was);
	free(key);
	return rv;
}

/* The set-up has run in the room. */
static void keep_room(struct git_op *op, const char *tree, const struct changes *entries)
{
	char *key = prepared_key(op, op->spec.copied);

	if (strcmp(tree, op->spec.base) == 0)
		prepared_keep(op, op->spec.copied, entries);
	if (op->spec.reuses)
		note_setup(op, key, tree);
	free(key);
}

static int prepare(struct git_op *op, const char *tree)
{
	bool uses = op->spec.setup != NULL && op->spec.base != NULL && op->objects != NULL, cloned = false;
	struct changes entries = { 0 };
	int rv = checkout_list(op, tree, &entries);

	if (rv == 0 && uses && op->spec.keep == 0)
		rv = clone_or_keep(op, tree, &entries, &cloned);
	if (rv == 0 && !cloned)
		rv = copied_files_copy(op);
	if (rv == 0)
		rv = restore_tracked(op, tree, &entries);
	if (rv == 0 && uses && op->spec.keep != 0)
		keep_room(op, tree, &entries);
	if (rv == 0 && op->spec.keep != 0 && op->spec.room_base != NULL) {
		rv = room_judges_remove(op, &entries);
		if (rv == 0)
			rv = room_git_make_again(op);
	}
	changes_release(&entries);
	return rv;
}

int prepare_run(struct git_op *op)
{
	char *tree = xstrdup(op->spec.tree);
	int rv = git_find_common(op);

	if (rv == 0 && access(op->spec.dir, F_OK) == -1 && errno == ENOENT)
		rv = git_fail(op, xasprintf("%s no longer exists: its set-up removed it; " GIT_OTHER_SETUP,
		    op->spec.dir));
	if (rv == 0 && tree == NULL) {
		op->place = op->spec.dir;
		rv = git_resolve(op, WORKTREE_TREE "^{tree}", &tree);
		op->place = op->spec.workspace;
		if (rv == 0 && tree == NULL)
			rv = git_fail(op, xasprintf("%s: no note of its tree; remove it, then retry the run",
			    op->spec.dir));
	}
	if (rv == 0)
		rv = prepare(op, tree);
	free(tree);
	return rv;
}
