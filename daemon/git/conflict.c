/* SPDX-License-Identifier: MIT */
/* MERGE with a conflict, or of a tree that is to be judged first: the task's work tree gets the
 * merged branch, and on top of it, as uncommitted changes, the result of merge-tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "git/evidence_repo.h"
#include "git/replay.h"

/* ---- which files ---- */

/* The words of merge-tree -z, one after the other; NULL: none left. */
static const char *next_word(const char **data, const char *end)
{
	const char *word = *data;

	if (word >= end)
		return NULL;
	*data += strlen(word) + 1;
	return word;
}

/* "CONFLICT (modify/delete)": the text in brackets, if it is about path. NULL if the file has
 * conflict markers. */
static char *kind_of(const char *path, const char *messages, const char *end)
{
	char *kind = NULL;
	const char *word;

	while (kind == NULL && (word = next_word(&messages, end)) != NULL) {
		bool about = false;

		for (unsigned long n = strtoul(word, NULL, 10);
		    n > 0 && (word = next_word(&messages, end)) != NULL; n--)
			about = about || strcmp(word, path) == 0;
		word = next_word(&messages, end);
		if (about && word != NULL && strncmp(word, "CONFLICT (", 10) == 0 &&
		    strcmp(word, "CONFLICT (contents)") != 0)
			kind = xmemdup0(word + 10, strcspn(word + 10, ")"));
		next_word(&messages, end);
	}
	return kind;
}

/* A tree, lines "mode id stage<TAB>path" up to an empty one, messages. */
static bool name_conflicts(struct git_op *op, const char *data, const char *end)
{
	const char *messages = data, *last = NULL, *word;
	struct names names = { 0 };

	next_word(&messages, end);
	while ((word = next_word(&messages, end)) != NULL && word[0] != '\0')
		;
	next_word(&data, end);
	while ((word = next_word(&data, end)) != NULL && word[0] != '\0') {
		const char *path = strchr(word, '\t');
		char *kind, *name;

		if (path == NULL)
			return false;
		path++;
		if (last != NULL && strcmp(path, last) == 0)
			continue;
		last = path;
		kind = kind_of(path, messages, end);
		name = kind != NULL ? xasprintf("%s (%s)", path, kind) : xstrdup(path);
		names_add(&names, name);
		free(name);
		free(kind);
	}
	op->result.conflicts = names_take(&names);
	return op->result.conflicts != NULL;
}

/* ---- the work tree of the task ---- */

static int has_moved(struct git_op *op)
{
	return git_fail(op, xasprintf("%s: HEAD is not at %.12s, which is to be merged; " GIT_KEPT,
	    op->spec.dir, op->spec.commit));
}

/* Repeated after the reset: HEAD is the old tip. Files checked out then must be in the index, so
 * that the next reset removes them. */
static int resume_check_out(struct git_op *op, const struct merge *m, const char *head, const char *tip)
{
	int rv = git_run(op, GIT_MAY_FAIL, "merge-base", "--is-ancestor", head, tip);

	if (rv == 1)
		return has_moved(op);
	return rv == 0 ? git_run(op, 0, "read-tree", m->tree) : -1;
}

/* It has been here before, and has not committed since: its files are those of the commit, which a
 * reset removes if they are in the index. */
static int leave_check_out(struct git_op *op)
{
	int rv = git_run(op, 0, "read-tree", op->spec.commit);

	if (rv == 0)
		rv = git_run(op, GIT_MAY_FAIL, "update-index", "-q", "--refresh");
	if (rv != -1)
		rv = git_run(op, GIT_MAY_FAIL, "diff-files", "--quiet");
	if (rv == 1)
		return git_fail(op, xasprintf("%s: its files are not those of %.12s, which is to be merged; " GIT_KEPT,
		    op->spec.dir, op->spec.commit));
	return rv == 0 ? git_run(op, 0, "update-ref", "--no-deref", op->spec.keep_ref, op->spec.commit) : rv;
}

/* Save HEAD in keep_ref, so that it may be reset. */
static int keep_head(struct git_op *op, const struct merge *m)
{
	char *kept = NULL, *head = NULL;
	int rv = git_resolve(op, op->spec.keep_ref, &kept);

	op->place = op->spec.dir;
	if (rv == 0)
		rv = git_resolve(op, "HEAD^{commit}", &head);
	if (rv == 0 && head != NULL && strcmp(head, op->spec.commit) == 0)
		rv = git_run(op, 0, "update-ref", "--no-deref", op->spec.keep_ref, op->spec.commit);
	else if (rv == 0 && head != NULL && kept != NULL && strcmp(kept, op->spec.commit) == 0)
		rv = resume_check_out(op, m, head, m->start);
	else if (rv == 0 && head != NULL && strcmp(head, op->spec.base_commit) == 0)
		rv = leave_check_out(op);
	else if (rv == 0)
		rv = has_moved(op);
	free(head);
	free(kept);
	return rv;
}

static int check_out(struct git_op *op, const struct merge *m)
{
	struct changes appeared = { 0 };
	int rv = keep_head(op, m);

	if (rv == 0)
		rv = git_run(op, GIT_FILTERED, "reset", "-q", "--hard", m->start);
	if (rv == 0)
		rv = evidence_fetch(op, m->start);
	if (rv == 0)
		rv = appeared_read(op, &appeared);
	if (rv == 0)
		rv = disk_tree(op, &appeared, &op->result.base);
	if (rv == 0)
		rv = evidence_give(op, op->result.base, m->start);
	if (rv == 0)
		rv = git_run(op, GIT_FILTERED, "read-tree", "--reset", "-u", m->tree);
	if (rv == 0)
		rv = git_run(op, GIT_FILTERED, "reset", "-q", "--mixed", m->start);
	if (rv == 0)
		rv = disk_tree(op, &appeared, &op->result.tree);
	changes_release(&appeared);
	return rv;
}

int conflict_check_out(struct git_op *op, const struct merge *m)
{
	const char *data = git_out(op);
	size_t size = git_out_size(op);

	if (size == 0 || data[size - 1] != '\0' || !name_conflicts(op, data, data + size))
		return git_fail(op,
		    xasprintf("git merge-tree: unexpected output in %s; is git 2.39 or newer?",
		    op->spec.workspace));
	text_set(&op->result.commit, m->start);
	return check_out(op, m);
}

int merged_check_out(struct git_op *op, struct merge *m)
{
	memcpy(m->tree, m->tip_tree, sizeof(m->tree));
	op->result.held_back = op->result.new_tree = true;
	text_set(&op->result.commit, m->tip);
	text_set(&op->result.head, m->start);
	return check_out(op, m);
}
