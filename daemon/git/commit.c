/* SPDX-License-Identifier: MIT */
/* COMMIT and ADOPT_COMMITS: commit the difference between two trees to the user's repository, with
 * its filters and hooks.
 *
 * The commit is made from a private index: HEAD with those paths as they are in the tree that was
 * reviewed; what the disk has instead stays there, uncommitted. What the user has staged elsewhere
 * is neither included nor lost; afterwards only those paths are set in the user's index. `git
 * commit --only` is similar, but drops a directory that became a link, fails on a file that became
 * a directory, and adds again what was removed from the index but kept on disk. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "git/adopt_commits.h"
#include "git/artifact.h"
#include "git/evidence_repo.h"
#include "git/gitdir.h"
#include "git/verified.h"
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

static char *in_the_middle(const struct git_op *op, const char *what, const char *end)
{
	char *there = xasprintf("%s, then commit the work tree", end);
	char *error = xasprintf("%s: %s; %s", op->spec.workspace, what, git_remedy(op, there));

	free(there);
	return error;
}

/* What makes a commit impossible: it would be ended or joined by it, or git would refuse. */
static char *in_the_way(const struct git_op *op)
{
	const char *finish = NULL, *what = git_dir_in_progress(op->spec.workspace, &finish);
	char *dir, *lock, *error = NULL;
	struct stat st;

	if (what != NULL)
		return in_the_middle(op, what, finish);
	dir = git_dir_own(op->spec.workspace);
	lock = xasprintf("%s/index.lock", dir != NULL ? dir : op->spec.workspace);
	if (lstat(lock, &st) == 0)
		error = in_the_middle(op, "another git process is at work there (index.lock)",
		    "wait for it, or remove the file if there is none");
	free(lock);
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
	if (git_diff(op, GIT_EVIDENCE, op->spec.base, op->spec.tree, op->artifacts, &c->wanted) != 0)
		return -1;
	return git_out_size(op) == 0 && strcmp(op->spec.base, op->spec.tree) != 0 ? git_fail_output(op) : 0;
}

/* Remove from wanted what is undone and not in these files. */
static void drop_undone(struct commit *commit, const struct buf *have)
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
}

/* The files that are wanted only if the disk has them as the tree has, as index lines. */
static int read_undone(struct git_op *op, const struct commit *c, struct buf *have)
{
	struct snapshot *s = snapshot_new(op->spec.workspace, op->spec.scratch, NULL);
	int rv;

	git_fresh_index(op);
	rv = disk_tree_add(op, s, &c->undone, NULL);
	if (rv == 0)
		rv = disk_tree_hash(op, s, NULL, NULL);
	if (rv == 0)
		snapshot_index(s, have);
	snapshot_free(s);
	return rv;
}

enum { READY, REFUSED, NOTHING, MADE };

/* Whether there is something to commit, and nothing in the way. READY, NOTHING; -1. */
static int check_work(struct git_op *op, struct commit *c)
{
	struct buf have = { 0 };
	char *error;
	int rv;

	if (c->wanted.count == 0)
		return NOTHING;
	error = in_the_way(op);
	if (error != NULL)
		return git_fail(op, error);
	/* an index that git cannot read would be found when the commit is made */
	rv = git_run(op, 0, "ls-files", "-u", "-z");
	if (rv == 0 && c->undone.count > 0)
		rv = read_undone(op, c, &have);
	if (rv == 0 && c->undone.count > 0)
		drop_undone(c, &have);
	buf_release(&have);
	return rv != 0 ? rv : c->wanted.count > 0 ? READY : NOTHING;
}

/* ---- the commit ---- */

/* The user's repository truly has what the commit will refer to: git does not write an object that
 * seems to be there, and does not look at its content. */
static int check_objects(struct git_op *op, const char *planned, const char *tip)
{
	char *not = tip != NULL ? xasprintf("^%s", tip) : NULL;
	struct buf ids = { 0 }, missing = { 0 };
	int rv = git_run(op, 0, "rev-list", "--objects", "--no-object-names", planned, not);

	free(not);
	if (rv == 0)
		buf_add(&ids, git_out(op), git_out_size(op));
	if (rv == 0 && ids.size > 0)
		rv = verified_read(op, 0, &ids, &missing, NULL);
	buf_release(&missing);
	buf_release(&ids);
	return rv;
}

/* Whether the commit has the tree that was planned. */
static int check_tree(struct git_op *op, const char *planned)
{
	char *name = xasprintf("%s^{tree}", op->result.commit), *tree;
	int rv = git_resolve(op, name, &tree);

	if (rv == 0 && (tree == NULL || strcmp(tree, planned) != 0))
		rv = git_fail(op, xasprintf("commit %.12s in %s does not have the tree that was reviewed; "
		    "see `git show`; `git reset --soft HEAD~1` undoes the commit", op->result.commit,
		    op->spec.workspace));
	free(tree);
	free(name);
	return rv;
}

static int make_commit(struct git_op *op, const char *tip)
{
	char *planned = NULL, *message = commit_hooks_message_file(op);
	int rv = disk_tree_write(op, 0, &planned), error;

	if (rv == 0)
		rv = check_objects(op, planned, tip);
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
	if (rv == 0)
		rv = check_tree(op, planned);
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

/* Where a post-commit hook has left HEAD: once that has been reviewed, the hook does not run on it
 * again. */
static char *left_file(const struct git_op *op)
{
	return xasprintf("%s/left", op->spec.scratch);
}

static int note_left(struct git_op *op, const char *head)
{
	char *file = left_file(op);
	int rv = file_write(AT_FDCWD, file, head, strlen(head), 0600, false);

	if (rv != 0)
		git_fail(op, xasprintf("%s: %s", file, host_words(-rv)));
	free(file);
	return rv == 0 ? 0 : -1;
}

static bool was_left_at(const struct git_op *op, const char *head)
{
	char *file = left_file(op), *data;
	size_t size;
	bool was = false;

	if (file_read(AT_FDCWD, file, GIT_ID_MAX, &data, &size) == 0) {
		was = strcmp(data, head) == 0;
		free(data);
	}
	free(file);
	return was;
}

/* HEAD after the post-commit hook. The same tree in another commit, such as with another message,
 * is the result; any other tree was not reviewed. READY, REFUSED; -1. */
static int check_head(struct git_op *op)
{
	struct names names = { 0 };
	char *head, *text;

	if (git_resolve(op, "HEAD^{commit}", &head) != 0)
		return -1;
	if (head == NULL)
		return git_fail(op, xasprintf("%s: after the post-commit hook, HEAD no longer has a commit; "
		    "see `git reflog` there; the commit of the work is %.12s",
		    op->spec.workspace, op->result.commit));
	if (strcmp(head, op->result.commit) == 0) {
		free(head);
		return READY;
	}
	if (git_run(op, 0, "diff-tree", "-r", "-z", "--name-only", "--ignore-submodules=none",
	    op->result.commit, head) != 0) {
		free(head);
		return -1;
	}
	for (const char *p = git_out(op), *end = p + git_out_size(op); p < end; p += strlen(p) + 1)
		names_add(&names, p);
	free(op->result.commit);
	op->result.commit = head;
	text = names_take(&names);
	if (text == NULL)
		return READY;
	op->result.refused = xasprintf("after the commit, a hook of the repository set HEAD to %.12s, "
	    "which has other content: %s", head, text);
	op->result.hook_changed = true;
	free(text);
	return note_left(op, head) == 0 ? REFUSED : -1;
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
	if (was_left_at(op, op->result.commit))
		return READY;
	return commit_hooks_after(op) == 0 ? check_head(op) : -1;
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
	int rv = check_work(op, c);

	if (rv == READY) {
		rv = stage_work(op, c->tip, &c->wanted);
		if (rv == 0) {
			rv = make_commit(op, c->tip);
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
	if (rv == 0)
		rv = evidence_give(op, op->spec.tree, op->spec.base);
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
