/* SPDX-License-Identifier: MIT */
/* MERGE, when it is in conflict: the work tree of the task gets what is integrated already, and
 * over it, as changes that are not committed, what merge-tree made of both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "git/replay.h"

/* ---- which files ---- */

/* The words of merge-tree -z, one after the other; NULL: none is left. */
static const char *next_word(const char **data, const char *end)
{
	const char *word = *data;

	if (word >= end)
		return NULL;
	*data += strlen(word) + 1;
	return word;
}

/* "CONFLICT (modify/delete)": what is in its brackets, when path is among those that it is about.
 * Where there are markers to be seen in the file, NULL. */
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

/* A tree, lines "mode id stage<TAB>path" to an empty one, messages. */
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
	return git_fail(op, xasprintf("%s: HEAD is not at %.12s, which is to be integrated; " GIT_KEPT,
	    op->spec.dir, op->spec.commit));
}

/* Begun again, behind the reset: HEAD is the tip of then. What was checked out there must be known
 * to git, so that it goes with the next reset. */
static int resume_check_out(struct git_op *op, const struct merge *m, const char *head, const char *tip)
{
	int rv = git_run(op, GIT_MAY_FAIL, "merge-base", "--is-ancestor", head, tip);

	if (rv == 1)
		return has_moved(op);
	return rv == 0 ? git_run(op, 0, "read-tree", m->tree) : -1;
}

/* keep_ref has what HEAD had, and HEAD may be reset. */
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
		rv = appeared_read(op, &appeared);
	if (rv == 0)
		rv = disk_tree(op, &appeared, &op->result.base);
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
