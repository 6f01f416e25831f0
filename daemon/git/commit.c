/* SPDX-License-Identifier: MIT */
/* COMMIT and ADOPT_COMMITS: commit the difference between two trees to the user's repository, with
 * its filters and hooks.
 *
 * The commit is made from a private index: HEAD with those paths as they are in the work tree. What
 * the user has staged elsewhere is neither included nor lost; afterwards only those paths are set
 * in the user's index. `git commit --only` is similar, but drops a directory that became a link,
 * fails on a file that became a directory, and adds again what was removed from the index but kept
 * on disk. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "git/adopt_commits.h"
#include "git/artifact.h"
#include "git/gitdir.h"
#include "proto/escape.h"
#include "record/host_fault.h"

#define TRAILER "Rld-"

struct commit {
	struct changes wanted;	/* what is to be committed */
	struct changes led;	/* paths touched by commits of the agent */
	/* ... of these, those wanted although the work has not changed them: as in the tree; in a
	 * shared tree only */
	struct changes undone;
	struct changes made;	/* content of the commit */
	char *tip;		/* HEAD, NULL: no commit yet */
	bool tip_ours;		/* an earlier start of this operation made it */
};

/* Files in a git directory that show an operation in progress which a commit would end or join. */
static const struct { const char *file, *what, *end; } obstacles[] = {
	{ "MERGE_HEAD", "a merge is in progress",
	    "finish it with `git commit` or `git merge --abort`" },
	{ "CHERRY_PICK_HEAD", "a cherry-pick is in progress",
	    "finish it with `git cherry-pick --continue` or `--abort`" },
	{ "REVERT_HEAD", "a revert is in progress",
	    "finish it with `git revert --continue` or `--abort`" },
	{ "rebase-merge", "a rebase is in progress",
	    "finish it with `git rebase --continue` or `--abort`" },
	{ "rebase-apply", "a rebase is in progress",
	    "finish it with `git rebase --continue` or `--abort`" },
	{ "index.lock", "another git process is at work there (index.lock)",
	    "wait for it, or remove the file if there is none" },
};

static char *in_the_middle(const struct git_op *op, const char *what, const char *end)
{
	char *there = xasprintf("%s, then commit the work tree", end);
	char *error = xasprintf("%s: %s; %s", op->spec.workspace, what, git_remedy(op, there));

	free(there);
	return error;
}

static char *in_the_way(const struct git_op *op)
{
	char *dir = git_dir_own(op->spec.workspace), *error = NULL;

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

/* ---- what HEAD is ---- */

/* Whether text contains this whole line, including its LF. */
static bool has_line(const char *text, const char *line, size_t size)
{
	for (const char *p = text; (p = strchr(p, '\n')) != NULL; ) {
		p++;
		if (strncmp(p, line, size) == 0 && (p[size] == '\n' || p[size] == '\0'))
			return true;
	}
	return false;
}

/* Whether the commit's text contains all lines "Rld-..." of message, at least one. A hook may have
 * changed other lines. */
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

static int read_tip(struct git_op *op, struct commit *c)
{
	const char *body;

	if (git_resolve(op, "HEAD^{commit}", &c->tip) != 0)
		return -1;
	if (c->tip == NULL)
		return 0;
	if (git_run(op, 0, "cat-file", "commit", c->tip) != 0)
		return -1;
	body = strstr(git_out(op), "\n\n");
	c->tip_ours = body != NULL && is_ours(op->spec.message, body + 1) &&
	    (op->spec.commit == NULL || strcmp(c->tip, op->spec.commit) != 0);
	return 0;
}

/* ---- what is wanted ---- */

static int read_wanted(struct git_op *op, struct commit *c)
{
	if (git_diff(op, 0, op->spec.base, op->spec.tree, op->artifacts, &c->wanted) != 0)
		return -1;
	return git_out_size(op) == 0 && strcmp(op->spec.base, op->spec.tree) != 0 ? git_fail_output(op) : 0;
}

/* The first path whose line in want is missing in have; both are in the same order. */
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

/* Remove from undone what the files do not contain. Returns whether there was any. */
static bool drop_undone(struct commit *commit, const struct buf *have)
{
	size_t before = commit->wanted.count, kept = 0;

	for (size_t i = 0; i < before; i++) {
		struct change *c = &commit->wanted.list[i];
		struct changes one = { .list = c, .count = 1 };
		struct buf line = { 0 };

		changes_index(&one, false, &line);
		if (c->mode == 0 || changes_find(&commit->undone, c->path) == NULL ||
		    memmem(have->data, have->size, line.data, line.size) != NULL)
			commit->wanted.list[kept++] = *c;
		else
			free(c->path);
		buf_release(&line);
	}
	commit->wanted.count = kept;
	changes_release(&commit->undone);
	return kept < before;
}

/* The wanted files as index lines: as in the tree, and as on the disk. */
static int compare_files(struct git_op *op, const struct commit *c, struct buf *want, struct buf *have)
{
	struct changes own = changes_in(&c->wanted, op->shared_paths, false);
	struct snapshot *s = snapshot_new(op->spec.workspace, op->spec.scratch, NULL);
	int rv;

	changes_index(&own, false, want);
	git_fresh_index(op);
	rv = disk_tree_add(op, s, &own, NULL);
	free(own.list);
	if (rv == 0)
		rv = disk_tree_hash(op, s, NULL, NULL);
	if (rv == 0)
		snapshot_index(s, have);
	snapshot_free(s);
	return rv;
}

/* A hook may have reformatted it during the first start. */
static int moved_on(struct git_op *op, const char *path)
{
	struct names names = { 0 };
	char *shown;

	if (commit_hooks_noted(op)) {
		names_add(&names, path);
		commit_hooks_changed(op, &names);
		return 1;
	}
	shown = text_escape(path, strlen(path), false);
	git_fail(op, xasprintf("%s/%s differs from what was reviewed; nothing was committed: %s",
	    op->spec.workspace, shown, git_remedy(op, "inspect it, and commit it manually")));
	free(shown);
	return -1;
}

enum { READY, REFUSED, NOTHING, MADE };

/* Whether the wanted files are as reviewed. READY, ...; -1. */
static int check_files(struct git_op *op, struct commit *c)
{
	bool again = true;
	int rv = READY;

	while (rv == READY && again) {
		struct buf want = { 0 }, have = { 0 };
		const char *path;
		char *error;

		if (c->wanted.count == 0)
			return NOTHING;
		error = in_the_way(op);
		if (error != NULL)
			return git_fail(op, error);
		rv = compare_files(op, c, &want, &have);
		path = rv == 0 ? first_difference(&want, &have) : NULL;
		again = rv == 0 && drop_undone(c, &have);
		if (rv == 0 && !again && path != NULL)
			rv = c->tip_ours ? MADE : moved_on(op, path);
		buf_release(&want);
		buf_release(&have);
	}
	return rv;
}

/* ---- the commit ---- */

static int make_commit(struct git_op *op)
{
	char *planned = NULL, *message = commit_hooks_message_file(op);
	int rv = disk_tree_write(op, &planned), error;

	if (rv == 0 && (error = commit_hooks_note(op)) != 0)
		rv = git_fail(op, xasprintf("%s: %s", op->spec.scratch, host_words(-error)));
	if (rv == 0)
		rv = commit_hooks_run(op, planned);
	/* its hooks have run as separate processes */
	if (rv == 0)
		rv = git_run(op, GIT_INDEX | GIT_HOOKED, "-c", "core.hooksPath=/dev/null", "commit",
		    "-q", "--cleanup=whitespace", "--no-status", "-F", message);
	if (rv == 0)
		rv = git_run(op, 0, "rev-parse", "--verify", "-q", "HEAD^{commit}");
	if (rv == 0 && (op->result.commit = git_line(op, "no commit")) == NULL)
		rv = -1;
	free(planned);
	free(message);
	return rv;
}

/* Set the committed paths in the user's index. Other paths stay as they are. */
static int set_own_index(struct git_op *op, const struct commit *c)
{
	struct changes ours = { .list = xcalloc(c->made.count + 1, sizeof(*ours.list)) };
	struct buf lines = { 0 };

	for (size_t i = 0; i < c->made.count; i++)
		if (changes_find(&c->wanted, c->made.list[i].path) != NULL)
			ours.list[ours.count++] = c->made.list[i];
	changes_index(&ours, true, &lines);
	free(ours.list);
	return git_update_index(op, GIT_OWN_INDEX, &lines);
}

static bool is_below(const char *path, const char *dir)
{
	size_t size = strlen(dir);

	return strncmp(path, dir, size) == 0 && path[size] == '/';
}

/* A file and a directory of the same name cannot both be in a commit: if one replaced the other
 * before the work began, it is committed with the work. */
static bool gave_way(const struct changes *wanted, const struct change *made)
{
	for (size_t i = 0; made->mode == 0 && i < wanted->count; i++) {
		const struct change *c = &wanted->list[i];

		if (c->mode != 0 && (is_below(made->path, c->path) || is_below(c->path, made->path)))
			return true;
	}
	return false;
}

static bool is_wanted(const struct commit *c, const struct change *made)
{
	return changes_find(&c->wanted, made->path) != NULL ||
	    changes_find(&c->led, made->path) != NULL || gave_way(&c->wanted, made);
}

/* Check that the commit contains only what was wanted, and nothing of the review. */
static int check_commit(struct git_op *op, const struct commit *c)
{
	struct names names = { 0 };
	bool artifact = false;
	char *text;

	for (size_t i = 0; i < c->made.count; i++) {
		const char *path = c->made.list[i].path;

		if (is_wanted(c, &c->made.list[i]))
			continue;
		artifact = artifact || artifact_has(op->artifacts, path);
		names_add(&names, path);
	}
	text = names_take(&names);
	if (text == NULL)
		return 0;
	git_fail(op, xasprintf("commit %.12s in %s contains more than %s: %s; a hook of the "
	    "repository or another program added it: see `git show`; `git reset --soft HEAD~1` "
	    "undoes the commit", op->result.commit,
	    op->spec.workspace, artifact ? "the work, even what is of the review" : "the work", text));
	free(text);
	return -1;
}

/* After a commit, including one made by a daemon that died before it could report. */
static int finish(struct git_op *op, struct commit *c)
{
	if (git_run(op, 0, "diff-tree", "-r", "-z", "--raw", "--root", "--no-commit-id",
	    "--ignore-submodules=none", op->result.commit) != 0)
		return -1;
	if (!changes_read(&c->made, git_out(op), git_out_size(op), NULL))
		return git_fail_output(op);
	if (set_own_index(op, c) != 0 || check_commit(op, c) != 0)
		return -1;
	return commit_hooks_after(op);
}

/* Nothing is left to commit. */
static int settle(struct git_op *op, const struct commit *c)
{
	if (c->tip_ours)
		return MADE;
	/* without the previous HEAD: if there was work, HEAD contains it now */
	if (c->tip != NULL && (op->spec.commit == NULL ?
	    op->spec.kind == GIT_ADOPT_COMMITS && c->wanted.count > 0 : strcmp(c->tip, op->spec.commit) != 0))
		op->result.commit = xstrdup(c->tip);
	return NOTHING;
}

static int commit_work(struct git_op *op, struct commit *c)
{
	int rv = check_files(op, c);

	if (rv == READY) {
		rv = stage_work(op, c->tip, &c->wanted);
		if (rv == 0) {
			rv = make_commit(op);
			return rv == 0 ? finish(op, c) : rv;
		}
		rv = rv == 1 ? NOTHING : rv;
	}
	if (rv == NOTHING)
		rv = settle(op, c);
	if (rv != MADE)
		return rv;
	op->result.commit = xstrdup(c->tip);
	return finish(op, c);
}

/* ---- all of it ---- */

/* 0: c contains what is to be committed; NOTHING, REFUSED; -1. */
static int prepare(struct git_op *op, struct commit *c)
{
	bool adopts = op->spec.kind == GIT_ADOPT_COMMITS;
	int rv;

	if (!adopts && read_wanted(op, c) != 0)
		return -1;
	if (!adopts && c->wanted.count == 0 && op->spec.commit == NULL)
		return NOTHING;
	if (read_tip(op, c) != 0 || adopt_commits(op, c->tip, c->tip_ours, &c->led) != 0)
		return -1;
	if (adopts) {
		rv = adopt_tree(op);
		if (rv != 0)
			return rv;
		if (read_wanted(op, c) != 0)
			return -1;
	}
	return adopt_changes(op, c->tip, &c->led, &c->wanted, &c->undone);
}

int commit_run(struct git_op *op)
{
	struct commit c = { 0 };
	int rv;

	text_set(&op->result.tree, op->spec.tree);
	rv = reattach_head(op);
	if (rv == 0 && op->spec.repository != NULL && reattach_was_in_conflict(op))
		rv = conflict_marks(op, op->spec.tree);
	if (rv == 0 && op->result.conflicts == NULL) {
		rv = prepare(op, &c);
		if (rv == 0)
			rv = commit_work(op, &c);
	}
	changes_release(&c.wanted);
	changes_release(&c.led);
	changes_release(&c.undone);
	changes_release(&c.made);
	free(c.tip);
	return rv == -1 ? -1 : 0;
}
