/* SPDX-License-Identifier: MIT */
/* What an agent has committed itself. COMMITTED asks whether that is as it was told to; both it and COMMIT look for artifacts in
 * each of its commits, and take what they touched along: the last commit is to have the tree that was reviewed, whatever the
 * agent put in and took out again on the way. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "git/artifact.h"
#include "git/op_int.h"
#include "proto/escape.h"

/* Takes what and there: what to do in a tree that others have, too. */
static enum stage mend(struct git_op *op, char *what, char *there)
{
	op_fail(op, xasprintf("%s; %s", what, op_remedy(op, there)));
	free(there);
	free(what);
	return STAGE_NONE;
}

static enum stage unborn(struct git_op *op)
{
	return mend(op, xasprintf("%s: its branch has no commit any more", op->workspace),
	    xasprintf("see `git reflog` there, put it back to %.12s and retry the run", op->given_commit));
}

enum stage committed_tip(struct git_op *op)
{
	char *since;

	if (op->given_commit == NULL || (op->tip != NULL && strcmp(op->tip, op->given_commit) == 0))
		return committed_known(op);
	if (op->tip == NULL)
		return unborn(op);
	since = xasprintf("^%s", op->given_commit);
	strings_append(&op->words, op->tip);
	strings_append(&op->words, since);
	free(since);
	return STAGE_HISTORY;
}

enum stage committed_known(struct git_op *op)
{
	if (op->kind == GIT_COMMITTED)
		return tree_start(op);
	return op->led.count > 0 ? STAGE_AHEAD : commit_look(op);
}

/* ---- its commits ---- */

static enum stage left(struct git_op *op)
{
	return mend(op, xasprintf("%s: HEAD is at %.12s, which does not come after %.12s, where the work began: an agent has rewritten history",
	    op->workspace, op->tip, op->given_commit), xasprintf("put it right with `git reset --soft %.12s` there, then retry the run", op->given_commit));
}

static enum stage merged(struct git_op *op)
{
	return mend(op, xasprintf("%s: what the commit agent made is no line of commits, it has a merge in it", op->workspace),
	    xasprintf("put it right with `git reset --soft %.12s` there, then retry the run", op->given_commit));
}

void series_read(struct series *series, const char *data, size_t size, const char *since)
{
	char *text = xmemdup0(data, size), *next = text, *line;
	char *last = xstrdup(since);

	*series = (struct series){ .linear = true };
	while ((line = strsep(&next, "\n")) != NULL && line[0] != '\0') {
		char *id = strsep(&line, " "), *parent;
		size_t parents = 0;
		bool follows = false;

		for (; (parent = strsep(&line, " ")) != NULL; parents++) {
			follows = strcmp(parent, last) == 0;
			series->descends = series->descends || strcmp(parent, since) == 0;
		}
		series->linear = series->linear && follows && parents <= 1;
		strings_append(&series->ids, id);
		free(last);
		last = xstrdup(id);
	}
	free(last);
	free(text);
}

enum stage history_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct series series;
	enum stage next = STAGE_TOUCHED;

	(void)ok;
	series_read(&series, data, size, op->given_commit);
	op->rewritten = !series.descends;
	strings_free(op->ahead);
	op->ahead = NULL;
	for (size_t i = 0; series.ids != NULL && series.ids[i] != NULL; i++) {
		if (!op->tip_ours || strcmp(series.ids[i], op->tip) != 0)
			strings_append(&op->ahead, series.ids[i]);
	}
	if (series.ids == NULL || (op->rewritten && !op->shared))
		next = left(op);
	else if (op->kind == GIT_COMMITTED && !series.linear)
		next = merged(op);
	for (size_t i = 0; series.ids != NULL && series.ids[i] != NULL; i++)
		buf_addf(&op->input, "%s\n", series.ids[i]);
	strings_free(series.ids);
	return next;
}

static enum stage committed_artifact(struct git_op *op, const char *id, const char *path)
{
	char *shown = text_escape(path, strlen(path), false);
	char *what = xasprintf("commit %.12s in %s was made by an agent and has %s, but what a review leaves behind is never committed", id,
	    op->workspace, shown);
	char *there = xasprintf("take it out with `git reset --soft %.12s` and `git rm -r --cached -- %s` there, then retry the run", op->given_commit, shown);

	free(shown);
	return mend(op, what, there);
}

/* An id, then pairs of ":mode mode id id letter" and a path; the next id. */
enum stage touched_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	const char *id = "", *end = data + size;

	(void)ok;
	if (size > 0 && end[-1] != '\0')
		return op_fail(op, xasprintf("git diff-tree: its output ends in the middle of a name in %s", op->workspace));
	for (const char *p = data; p < end; p += strlen(p) + 1) {
		if (p[0] != ':') {
			id = p;
			continue;
		}
		p += strlen(p) + 1;
		if (p >= end)
			return op_fail(op, xasprintf("git diff-tree: unexpected output in %s; is git 2.39 or newer?", op->workspace));
		if (artifact_has(op->artifacts, p))
			return committed_artifact(op, id, p);
		changes_add(&op->led, p, 0, "");
	}
	changes_order(&op->led);
	return committed_known(op);
}

/* Is it there as the tree has it, or not there when the tree has not? Of a file only whether it is there. */
static bool stands(const struct git_op *op, const struct change *c)
{
	char *path = xasprintf("%s/%s", op->workspace, c->path);
	struct stat st;
	bool there = lstat(path, &st) == 0;

	free(path);
	return there == (c->mode != 0);
}

bool committed_drop(struct git_op *op, const struct buf *have)
{
	size_t before = op->wanted.count, kept = 0;

	for (size_t i = 0; i < before; i++) {
		struct change *c = &op->wanted.list[i];
		struct changes one = { .list = c, .count = 1 };
		struct buf line = { 0 };

		changes_index(&one, false, &line);
		if (c->mode == 0 || changes_find(&op->undone, c->path) == NULL || memmem(have->data, have->size, line.data, line.size) != NULL)
			op->wanted.list[kept++] = *c;
		else
			free(c->path);
		buf_release(&line);
	}
	op->wanted.count = kept;
	changes_release(&op->undone);
	return kept < before;
}

/* What differs between HEAD and the tree, of that which they touched. In a shared tree a person may have committed it since the tree
 * was taken: only what the files still are is the work. */
enum stage ahead_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct changes ahead = { 0 }, undone = { 0 };
	bool read = changes_read(&ahead, data, size, op->artifacts);

	(void)ok;
	for (size_t i = 0; read && i < ahead.count; i++) {
		const struct change *c = &ahead.list[i];

		if (changes_find(&op->led, c->path) == NULL || artifact_has(op->others, c->path))
			continue;
		if (op->shared && !stands(op, c))
			continue;
		if (changes_find(&op->wanted, c->path) == NULL)
			changes_add(&undone, c->path, c->mode, c->id);
	}
	changes_release(&ahead);
	for (size_t i = 0; i < undone.count; i++)
		changes_add(&op->wanted, undone.list[i].path, undone.list[i].mode, undone.list[i].id);
	changes_order(&op->wanted);
	if (!op->shared)
		changes_release(&undone);
	changes_release(&op->undone);
	op->undone = undone;
	return read ? commit_look(op) : op_fail(op, xasprintf("git diff-tree: unexpected output in %s; is git 2.39 or newer?", op->workspace));
}

/* ---- its work tree ---- */

enum stage committed_tree(struct git_op *op)
{
	return strcmp(op->tree, op->given) == 0 ? STAGE_CHANGES : STAGE_DRIFT;
}

enum stage drift_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct names names = { 0 };

	(void)ok;
	for (const char *p = data, *end = data + size; p < end; p += strlen(p) + 1)
		names_add(&names, p);
	names_end(&names);
	if (hook_noted(op))
		hook_changed(op, &names);
	else
		mend(op, xasprintf("the commit agent changed: %s; that is not what was reviewed", names.text.data),
		    xasprintf("look at it in %s, and commit it yourself", op->workspace));
	buf_release(&names.text);
	return STAGE_NONE;
}
