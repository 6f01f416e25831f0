/* SPDX-License-Identifier: MIT */
/* Commits made by agents. ADOPT_COMMITS checks that they are as requested; it and COMMIT look for
 * artifacts in each of them, and include the paths they touched: the last commit must have the tree
 * that was reviewed, whatever the agent added and removed in between. */
#include "git/adopt_commits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "git/artifact.h"
#include "proto/escape.h"

/* Takes ownership of what and there: the remedy in a tree that others use, too. */
static int mend(struct git_op *op, char *what, char *there)
{
	git_fail(op, xasprintf("%s; %s", what, git_remedy(op, there)));
	free(there);
	free(what);
	return -1;
}

/* ---- its commits ---- */

static void read_series(struct series *series, const char *data, size_t size, const char *since)
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

int series_read(struct git_op *op, const char *tip, const char *since, struct series *series)
{
	char *not = since != NULL ? xasprintf("^%s", since) : NULL;
	int rv = git_run(op, 0, "rev-list", "--reverse", "--topo-order", "--parents", tip, not);

	free(not);
	*series = (struct series){ 0 };
	if (rv == 0)
		read_series(series, git_out(op), git_out_size(op), since != NULL ? since : "");
	return rv;
}

static int fail_artifact(struct git_op *op, const char *id, const char *path)
{
	char *shown = text_escape(path, strlen(path), false);
	char *what = xasprintf("commit %.12s in %s was made by an agent and contains %s, but "
	    "review files are never committed", id, op->spec.workspace, shown);
	char *there = xasprintf("remove it with `git reset --soft %.12s` and `git rm -r --cached "
	    "-- %s` there, then retry the run", op->spec.commit, shown);

	free(shown);
	return mend(op, what, there);
}

/* The paths that they touched. m: a merge may contain what none of its parents has. */
static int read_touched(struct git_op *op, char *const *ids, struct changes *led)
{
	struct buf input = { 0 };
	const char *id = "", *data, *end;
	int rv;

	for (; *ids != NULL; ids++)
		buf_addf(&input, "%s\n", *ids);
	rv = git_run_input(op, 0, &input, "diff-tree", "--stdin", "-m", "-r", "-z", "--raw",
	    "--root", "--ignore-submodules=none");
	buf_release(&input);
	if (rv != 0)
		return -1;
	/* an id, then pairs of ":mode mode id id letter" and a path; the next id */
	data = git_out(op);
	end = data + git_out_size(op);
	if (data < end && end[-1] != '\0')
		return git_fail(op, xasprintf("git diff-tree: its output ends in the middle of a name in %s",
		    op->spec.workspace));
	for (const char *p = data; p < end; p += strlen(p) + 1) {
		if (p[0] != ':') {
			id = p;
			continue;
		}
		p += strlen(p) + 1;
		if (p >= end)
			return git_fail_output(op);
		if (artifact_has(op->artifacts, p))
			return fail_artifact(op, id, p);
		changes_add(led, p, 0, "");
	}
	changes_order(led);
	return 0;
}

/* Check that the commits are as requested. */
static int check_series(struct git_op *op, const char *tip, const struct series *series)
{
	if (series->ids == NULL || (op->result.rewritten && !op->spec.shared))
		return mend(op, xasprintf("%s: HEAD is at %.12s, which does not descend from "
		    "%.12s, where the work began: an agent rewrote history",
		    op->spec.workspace, tip, op->spec.commit),
		    xasprintf("fix it with `git reset --soft %.12s` there, then retry the run",
		    op->spec.commit));
	if (op->spec.kind == GIT_ADOPT_COMMITS && !series->linear)
		return mend(op, xasprintf("%s: the commits of the commit agent are not linear; "
		    "they contain a merge", op->spec.workspace),
		    xasprintf("fix it with `git reset --soft %.12s` there, then retry the run",
		    op->spec.commit));
	return 0;
}

int adopt_commits(struct git_op *op, const char *tip, bool tip_ours, struct changes *led)
{
	struct series series;
	int rv;

	if (op->spec.commit == NULL || (tip != NULL && strcmp(tip, op->spec.commit) == 0))
		return 0;
	if (tip == NULL)
		return mend(op, xasprintf("%s: its branch no longer has a commit", op->spec.workspace),
		    xasprintf("see `git reflog` there, reset it to %.12s and retry the run", op->spec.commit));
	if (series_read(op, tip, op->spec.commit, &series) != 0)
		return -1;
	op->result.rewritten = !series.descends;
	for (size_t i = 0; series.ids != NULL && series.ids[i] != NULL; i++)
		if (!tip_ours || strcmp(series.ids[i], tip) != 0)
			strings_append(&op->result.ahead, series.ids[i]);
	rv = check_series(op, tip, &series);
	if (rv == 0)
		rv = read_touched(op, series.ids, led);
	strings_free(series.ids);
	return rv;
}

/* Whether the path exists or is missing as in the tree. For a file only whether it exists. */
static bool stands(const struct git_op *op, const struct change *c)
{
	char *path = xasprintf("%s/%s", op->spec.workspace, c->path);
	struct stat st;
	bool there = lstat(path, &st) == 0;

	free(path);
	return there == (c->mode != 0);
}

int adopt_changes(struct git_op *op, const char *tip, const struct changes *led,
    struct changes *wanted, struct changes *undone)
{
	struct changes ahead = { 0 };
	int rv = led->count > 0 ? git_diff(op, 0, tip, op->spec.tree, op->artifacts, &ahead) : 0;

	for (size_t i = 0; rv == 0 && i < ahead.count; i++) {
		const struct change *c = &ahead.list[i];

		if (changes_find(led, c->path) == NULL || artifact_has(op->shared_paths, c->path) ||
		    (op->spec.shared && !stands(op, c)))
			continue;
		if (changes_find(wanted, c->path) == NULL)
			changes_add(undone, c->path, c->mode, c->id);
	}
	changes_release(&ahead);
	for (size_t i = 0; i < undone->count; i++)
		changes_add(wanted, undone->list[i].path, undone->list[i].mode, undone->list[i].id);
	changes_order(wanted);
	if (!op->spec.shared)
		changes_release(undone);
	return rv;
}

/* ---- its work tree ---- */

int adopt_tree(struct git_op *op)
{
	struct changes appeared = { 0 };
	struct names names = { 0 };
	char *text;
	int rv = appeared_read(op, &appeared);

	if (rv == 0)
		rv = disk_tree(op, &appeared, &op->result.tree);
	changes_release(&appeared);
	if (rv != 0 || strcmp(op->result.tree, op->spec.tree) == 0)
		return rv;
	if (git_run(op, GIT_EVIDENCE, "diff-tree", "-r", "-z", "--name-only", "--ignore-submodules=none",
	    op->spec.tree, op->result.tree) != 0)
		return -1;
	for (const char *p = git_out(op), *end = p + git_out_size(op); p < end; p += strlen(p) + 1)
		names_add(&names, p);
	if (commit_hooks_noted(op)) {
		commit_hooks_changed(op, &names);
		return 1;
	}
	text = names_take(&names);
	mend(op, xasprintf("the commit agent changed %s, which differs from what was reviewed", text),
	    xasprintf("inspect it in %s, and commit it manually", op->spec.workspace));
	free(text);
	return -1;
}
