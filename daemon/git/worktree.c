/* SPDX-License-Identifier: MIT */
/* WORKTREE: a work tree of a task's own. What the disk has when it is made is noted in two refs that only this work
 * tree has, and that say that it is complete: the tree, byte for byte, and the commit that it is of. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "git/lay.h"
#include "git/op_int.h"
#include "git/registration.h"
#include "proto/escape.h"
#include "record/host_fault.h"

/* ---- is it whole? ---- */

/* A file beside dir, there while dir is being made: whatever is in dir then, or known of it, is half of it. After a power cut nothing
 * else tells. */
static char *sign(const struct git_op *op)
{
	return xasprintf("%s.making", op->dir);
}

static bool is_half_made(const struct git_op *op)
{
	char *file = sign(op);
	struct stat st;
	bool half = lstat(file, &st) == 0;

	free(file);
	return half;
}

static int begin_making(const struct git_op *op)
{
	char *file = sign(op), *parent = xmemdup0(file, (size_t)(strrchr(file, '/') - file));
	int rv = file_mkdirs(parent, 0755);

	if (rv == 0)
		rv = file_write(AT_FDCWD, file, "", 0, 0600, true);
	free(parent);
	free(file);
	return rv;
}

void worktree_made(const struct git_op *op)
{
	char *file = sign(op);

	unlink(file);
	free(file);
}

enum stage worktree_start(struct git_op *op)
{
	if (op->branch[0] == '-')
		return op_fail(op, xasprintf("'%s' is no name for a branch", op->branch));
	reserve_recall(op);
	return op->bare ? reserve_start(op) : STAGE_SUBMODULES;
}

static bool is_checked_out(const struct git_op *op, const char *path)
{
	char *git = xasprintf("%s/%s/.git", op->workspace, path);
	struct stat st;
	bool yes = lstat(git, &st) == 0;

	free(git);
	return yes;
}

/* "mode id stage<TAB>path": the work of a task would have to go into them too. */
enum stage submodules_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct names names = { 0 };

	(void)ok;
	for (const char *p = data, *end = data + size; p < end; p += strlen(p) + 1) {
		const char *tab = strchr(p, '\t');

		if (tab != NULL && strncmp(p, "160000 ", 7) == 0 && is_checked_out(op, tab + 1))
			names_add(&names, tab + 1);
	}
	names_end(&names);
	if (names.count > 0) {
		op_fail(op, xasprintf("%s has submodules that are checked out (%s), which a work tree of its own would not have; use --isolation shared",
		    op->workspace, names.text.data));
		buf_release(&names.text);
		return STAGE_NONE;
	}
	return reserve_start(op);
}

/* ---- what an earlier begin has left ---- */

/* Once it is complete, somebody may have worked there: it is taken as it is, or not touched. */
enum state { HALF_MADE, COMPLETE, ANOTHER };

static enum state state_of(const struct git_op *op, const char *registration)
{
	char *commit = registration_line(registration, WORKTREE_COMMIT), *head = registration_line(registration, "HEAD");
	char *want = xasprintf("ref: refs/heads/%s", op->branch);
	bool same = commit != NULL && head != NULL && strcmp(head, want) == 0 &&
	    (op->given_commit == NULL || strcmp(commit, op->given_commit) == 0);
	bool noted = commit != NULL;

	free(commit);
	free(head);
	free(want);
	return same ? COMPLETE : noted ? ANOTHER : HALF_MADE;
}

/* Half-made: no agent was ever there. Its files go first, so that it is known for ours as long as there is one. registration: NULL,
 * there is none, or it was damaged. */
static enum stage remove_rest(struct git_op *op, const char *registration)
{
	int rv = lay_remove(op->dir);

	registration_sweep(op->common, op->dir, true);
	if (rv == 0 && registration != NULL)
		rv = registration_remove(op->common, registration);
	return rv == 0 ? STAGE_NONE : op_fail(op, xasprintf("%s: what an earlier start has left cannot be removed: %s; remove it and retry the run", op->dir, host_words(-rv)));
}

static enum stage look(struct git_op *op)
{
	op->place = op->dir;
	return tree_start(op);
}

/* tip: of the branch, NULL: there is no such branch. */
static enum stage make(struct git_op *op, const char *tip)
{
	int rv;

	if (rmdir(op->dir) == -1 && errno != ENOENT)
		return op_fail(op, xasprintf("%s is in the way of the task's work tree, and nothing of ours is known there: %s; look at it and move it away",
		    op->dir, errno == ENOTEMPTY || errno == EEXIST ? "it is not empty" : host_words(errno)));
	rv = begin_making(op);
	if (rv != 0)
		return op_fail(op, xasprintf("%s cannot be made: %s", op->dir, host_words(-rv)));
	if (tip == NULL) {
		strings_append(&op->words, "--no-track");
		strings_append(&op->words, "-b");
		strings_append(&op->words, op->branch);
	}
	strings_append(&op->words, "--");
	strings_append(&op->words, op->dir);
	strings_append(&op->words, tip == NULL ? op->given_commit : op->branch);
	return STAGE_WORKTREE;
}

static enum stage branch_trouble(struct git_op *op, const char *what)
{
	char *shown = text_escape(op->branch, strlen(op->branch), false);
	char *error = xasprintf("branch %s in %s %s", shown, op->workspace, what);

	free(shown);
	return op_fail(op, error);
}

bool worktree_has(const struct git_op *op)
{
	char *registration = op->kind == GIT_WORKTREE ? registration_find(op->common, op->dir) : NULL;
	bool has = registration != NULL && !is_half_made(op) && state_of(op, registration) != HALF_MADE;

	free(registration);
	return has;
}

enum stage worktree_named(struct git_op *op, const char *tip)
{
	char *registration = registration_find(op->common, op->dir);
	bool half = is_half_made(op);
	enum state state = registration != NULL && !half ? state_of(op, registration) : HALF_MADE;
	enum stage next = STAGE_NONE;

	if (state == COMPLETE) {
		op->noted = true;
		next = look(op);
	} else if (state == ANOTHER) {
		next = op_fail(op, xasprintf("%s has the work of another branch or start; look at it, and remove it with `git worktree remove -f -f`", op->dir));
	} else if (tip == NULL && op->given_commit == NULL) {
		next = branch_trouble(op, "is not there any more; its commits may be in `git reflog` or in `rlctl salvage list`");
	} else if (tip != NULL && op->given_commit != NULL && strcmp(tip, op->given_commit) != 0) {
		next = branch_trouble(op, "is there already, and has other commits; rename it with `git branch -m`, or delete it, then retry the run");
	} else {
		if (registration != NULL || half)
			next = remove_rest(op, registration);
		if (op->error == NULL)
			next = make(op, tip);
	}
	free(registration);
	return next;
}

/* ---- the new one ---- */

enum stage worktree_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	return ok ? look(op) : reserve_again(op);
}

enum stage worktree_head_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (size < 2)
		return op_fail(op, xasprintf("git rev-parse: no commit in %s", op->dir));
	op->commit = xmemdup0(data, size - 1);
	if (op->noted)
		return STAGE_NONE;	/* somebody may have worked there since */
	buf_addf(&op->input, "update " WORKTREE_TREE " %s\n", op->tree);
	buf_addf(&op->input, "update " WORKTREE_COMMIT " %s\n", op->commit);
	return STAGE_NOTE;
}
