/* SPDX-License-Identifier: MIT */
/* COMMIT: what differs between two trees, as a commit of the user's repository with its filters and hooks.
 *
 * The commit is made from a private index: HEAD with those paths as they are in the work tree. What the user has staged
 * elsewhere neither gets in nor is lost; in his own index only those paths are set, afterwards. `git commit --only` does
 * nearly that, but drops a directory that became a link, fails at a file that became a directory, and adds again what was
 * taken out of the index and kept. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "git/artifact.h"
#include "git/gitdir.h"
#include "git/op_int.h"
#include "proto/escape.h"

#define TRAILER "Rld-"

/* Files of a git directory, there while something is under way that a commit would end or take part in. */
static const struct { const char *file, *what, *end; } obstacles[] = {
	{ "MERGE_HEAD", "a merge is under way", "end it with `git commit` or `git merge --abort`" },
	{ "CHERRY_PICK_HEAD", "a cherry-pick is under way", "end it with `git cherry-pick --continue` or `--abort`" },
	{ "REVERT_HEAD", "a revert is under way", "end it with `git revert --continue` or `--abort`" },
	{ "rebase-merge", "a rebase is under way", "end it with `git rebase --continue` or `--abort`" },
	{ "rebase-apply", "a rebase is under way", "end it with `git rebase --continue` or `--abort`" },
	{ "index.lock", "another git works there (index.lock)", "wait for it, or remove the file when there is none" },
};

static char *in_the_middle(const struct git_op *op, const char *what, const char *end)
{
	char *there = xasprintf("%s, then commit what is in the work tree", end);
	char *error = xasprintf("%s: %s; %s", op->workspace, what, op_remedy(op, there));

	free(there);
	return error;
}

static char *in_the_way(const struct git_op *op)
{
	char *dir = git_dir_own(op->workspace), *error = NULL;

	for (size_t i = 0; dir != NULL && error == NULL && i < sizeof(obstacles) / sizeof(obstacles[0]); i++) {
		char *file = xasprintf("%s/%s", dir, obstacles[i].file);
		struct stat st;

		if (lstat(file, &st) == 0)
			error = in_the_middle(op, obstacles[i].what, obstacles[i].end);
		free(file);
	}
	free(dir);
	return error;
}

/* ---- before ---- */

/* The commit was made by a daemon that died before it could tell. */
static enum stage made_before(struct git_op *op)
{
	op->commit = xstrdup(op->tip);
	return STAGE_CHECK;
}

/* Nothing is left to be committed. */
static enum stage settled(struct git_op *op)
{
	if (op->tip_ours)
		return made_before(op);
	/* not told where HEAD was: when there was work, HEAD has it now */
	if (op->given_commit == NULL ? op->kind == GIT_COMMITTED && op->wanted.count > 0 : strcmp(op->tip, op->given_commit) != 0)
		op->commit = xstrdup(op->tip);
	return STAGE_NONE;
}

enum stage changes_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (!changes_read(&op->wanted, data, size, op->artifacts) ||
	    (size == 0 && strcmp(op->base, op->tree) != 0))
		return op_fail(op, xasprintf("git diff-tree: unexpected output in %s; is git 2.39 or newer?", op->workspace));
	if (op->kind == GIT_MEASURE)
		return op->wanted.count > 0 ? STAGE_TIP : STAGE_PATCH;
	if (op->kind == GIT_COMMITTED)
		return op->led.count > 0 ? STAGE_AHEAD : commit_look(op);
	return op->wanted.count > 0 || op->given_commit != NULL ? STAGE_TIP : STAGE_NONE;
}

/* The files of what is wanted, looked at and hashed: are they still those of the tree? */
enum stage commit_look(struct git_op *op)
{
	struct changes own;
	struct buf list = { 0 };
	char *error;

	if (op->wanted.count == 0)
		return settled(op);
	error = in_the_way(op);
	if (error != NULL)
		return op_fail(op, error);
	own = changes_in(&op->wanted, op->others, false);
	for (size_t i = 0; i < own.count; i++) {
		const struct change *c = &own.list[i];

		if (c->mode == 0)
			continue;
		buf_addf(&list, "H %06o %s 0\t%s", c->mode, c->id, c->path);
		buf_add(&list, "", 1);
	}
	free(own.list);
	op_fresh_index(op);
	op->looking = true;
	snapshot_free(op->snapshot);
	op->snapshot = snapshot_new(op->workspace, op->scratch, NULL);
	error = snapshot_list(op->snapshot, NULL, list.data != NULL ? list.data : "", list.size);
	buf_release(&list);
	return error != NULL ? op_fail(op, error) : tree_files(op);
}

enum stage tip_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	if (op->kind == GIT_MEASURE) {
		op->tip = ok && size > 1 ? xmemdup0(data, size - 1) : NULL;
		op_fresh_index(op);
		return STAGE_READ;
	}
	if (!ok || size < 2)
		return committed_tip(op);	/* no commit yet */
	op->tip = xmemdup0(data, size - 1);
	return STAGE_TIP_TEXT;
}

/* Has text a line that begins at line and ends at its LF? */
static bool has_line(const char *text, const char *line, size_t size)
{
	for (const char *p = text; (p = strchr(p, '\n')) != NULL; ) {
		p++;
		if (strncmp(p, line, size) == 0 && (p[size] == '\n' || p[size] == '\0'))
			return true;
	}
	return false;
}

/* All lines "Rld-..." of message, at least one, are in the commit's text. A hook may have changed other lines. */
static bool is_ours(const char *message, const char *text)
{
	bool any = false;

	for (const char *p = message; *p != '\0'; ) {
		size_t size = strcspn(p, "\n");

		if (strncmp(p, TRAILER, strlen(TRAILER)) == 0) {
			any = true;
			if (!has_line(text, p, size))
				return false;
		}
		p += size + (p[size] == '\n');
	}
	return any;
}

enum stage tip_text_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	const char *body = strstr(data, "\n\n");

	(void)ok, (void)size;
	op->tip_ours = body != NULL && is_ours(op->message, body + 1) && (op->given_commit == NULL || strcmp(op->tip, op->given_commit) != 0);
	return committed_tip(op);
}

/* The first path whose line in want is not in have; both are in the same order. */
static const char *first_difference(const struct buf *want, const struct buf *have)
{
	size_t at = 0;

	for (size_t next; at < want->size; at = next) {
		next = at + strlen(want->data + at) + 1;
		if (next > have->size || memcmp(want->data + at, have->data + at, next - at) != 0)
			break;
	}
	return at < want->size ? strchr(want->data + at, '\t') + 1 : NULL;
}

static enum stage moved_on(struct git_op *op, const char *path)
{
	char *shown = text_escape(path, strlen(path), false);
	char *error = xasprintf("%s/%s is not as it was when it was reviewed; nothing was committed: %s", op->workspace, shown,
	    op_remedy(op, "look at it, and commit it yourself"));

	free(shown);
	return op_fail(op, error);
}

/* A hook of the first begin may have put it in form. */
static enum stage in_form(struct git_op *op, const char *path)
{
	struct names names = { 0 };

	names_add(&names, path);
	hook_changed(op, &names);
	buf_release(&names.text);
	return STAGE_NONE;
}

enum stage commit_hashed(struct git_op *op)
{
	struct changes own = changes_in(&op->wanted, op->others, false);
	struct buf want = { 0 }, have = { 0 };
	const char *path;
	enum stage next = STAGE_READ;

	changes_index(&own, false, &want);
	free(own.list);
	snapshot_index(op->snapshot, &have);
	path = first_difference(&want, &have);
	if (committed_drop(op, &have))
		next = commit_look(op);
	else if (path != NULL)
		next = op->tip_ours ? made_before(op) : hook_noted(op) ? in_form(op, path) : moved_on(op, path);
	buf_release(&want);
	buf_release(&have);
	return next;
}

/* ---- the private index ---- */

/* What others have written since is not of the disk. */
static enum stage add_others(struct git_op *op)
{
	struct changes others = changes_in(&op->wanted, op->others, true);

	changes_index(&others, false, &op->input);
	free(others.list);
	return op->input.size > 0 ? STAGE_ADD_OTHERS : STAGE_STAGED;
}

static enum stage add(struct git_op *op)
{
	struct changes own = changes_in(&op->wanted, op->others, false);

	changes_paths(&own, false, &op->input);
	free(own.list);
	return op->input.size > 0 ? STAGE_ADD : add_others(op);
}

enum stage read_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	changes_paths(&op->wanted, true, &op->input);
	return op->input.size > 0 ? STAGE_REMOVE : add(op);
}

enum stage remove_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return add(op);
}

enum stage add_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return add_others(op);
}

enum stage add_others_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_STAGED;
}

enum stage staged_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data;
	if (size > 0)
		return STAGE_IDENT;
	return op->kind == GIT_MEASURE ? STAGE_PATCH : settled(op);
}

/* ---- the commit ---- */

enum stage ident_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	op->anonymous = !ok;
	return STAGE_PLANNED;
}

enum stage commit_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_MADE;
}

enum stage made_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (size < 2)
		return op_fail(op, xasprintf("git rev-parse: no commit in %s", op->workspace));
	op->commit = xmemdup0(data, size - 1);
	return STAGE_CHECK;
}

/* The user's index gets what the commit has of what was wanted. A path that is not among them stays as he has it. */
enum stage check_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct changes ours = { 0 };

	(void)ok;
	if (!changes_read(&op->made, data, size, NULL))
		return op_fail(op, xasprintf("git diff-tree: unexpected output in %s; is git 2.39 or newer?", op->workspace));
	ours.list = xcalloc(op->made.count + 1, sizeof(*ours.list));
	for (size_t i = 0; i < op->made.count; i++) {
		if (changes_find(&op->wanted, op->made.list[i].path) != NULL)
			ours.list[ours.count++] = op->made.list[i];
	}
	changes_index(&ours, true, &op->input);
	free(ours.list);
	return op->input.size > 0 ? STAGE_OWN_INDEX : own_index_done(op, true, "", 0);
}

static bool is_below(const char *path, const char *dir)
{
	size_t size = strlen(dir);

	return strncmp(path, dir, size) == 0 && path[size] == '/';
}

/* A file and a directory of one name cannot both be in a commit: who had put one in the other's place before the work
 * began gets it committed with the work. */
static bool gave_way(const struct changes *wanted, const struct change *made)
{
	for (size_t i = 0; made->mode == 0 && i < wanted->count; i++) {
		const struct change *c = &wanted->list[i];

		if (c->mode != 0 && (is_below(made->path, c->path) || is_below(c->path, made->path)))
			return true;
	}
	return false;
}

static bool is_wanted(const struct git_op *op, const struct change *made)
{
	return changes_find(&op->wanted, made->path) != NULL || changes_find(&op->led, made->path) != NULL || gave_way(&op->wanted, made);
}

/* Only what was wanted is in it, and nothing of the review. */
enum stage own_index_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct names names = { 0 };
	bool artifact = false;

	(void)ok, (void)data, (void)size;
	for (size_t i = 0; i < op->made.count; i++) {
		const char *path = op->made.list[i].path;

		if (is_wanted(op, &op->made.list[i]))
			continue;
		artifact = artifact || artifact_has(op->artifacts, path);
		names_add(&names, path);
	}
	names_end(&names);
	if (names.count > 0)
		op_fail(op, xasprintf("commit %.12s in %s has more in it than %s: %s; a hook of the repository, or somebody else, put it there: "
		    "see `git show`, and `git reset --soft HEAD~1` undoes the commit", op->commit, op->workspace,
		    artifact ? "the work, even what is of the review" : "the work", names.text.data));
	buf_release(&names.text);
	return op->error == NULL ? STAGE_HOOK_AFTER : STAGE_NONE;
}
