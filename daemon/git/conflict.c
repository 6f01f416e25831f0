/* SPDX-License-Identifier: MIT */
/* MERGE, when it is in conflict: the work tree of the task gets what is integrated already, and over it, as changes that are not
 * committed, what merge-tree made of both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "git/merge.h"

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

/* "CONFLICT (modify/delete)": what is in its brackets, when path is among those that it is about. Where there are markers to
 * be seen in the file, NULL. */
static char *kind_of(const char *path, const char *messages, const char *end)
{
	char *kind = NULL;
	const char *word;

	while (kind == NULL && (word = next_word(&messages, end)) != NULL) {
		bool about = false;

		for (unsigned long n = strtoul(word, NULL, 10); n > 0 && (word = next_word(&messages, end)) != NULL; n--)
			about = about || strcmp(word, path) == 0;
		word = next_word(&messages, end);
		if (about && word != NULL && strncmp(word, "CONFLICT (", 10) == 0 && strcmp(word, "CONFLICT (contents)") != 0)
			kind = xmemdup0(word + 10, strcspn(word + 10, ")"));
		next_word(&messages, end);
	}
	return kind;
}

/* A tree, lines "mode id stage<TAB>path" to an empty one, messages. */
static bool name_conflicts(struct git_op *op, const char *data, const char *end)
{
	const char *messages = data, *last = NULL, *word;

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
		names_add(&op->conflicts, name);
		free(name);
		free(kind);
	}
	names_end(&op->conflicts);
	return op->conflicts.count > 0;
}

/* ---- the work tree of the task ---- */

enum stage conflict_start(struct git_op *op, const char *data, size_t size)
{
	if (size == 0 || data[size - 1] != '\0' || !name_conflicts(op, data, data + size))
		return op_fail(op, xasprintf("git merge-tree: unexpected output in %s; is git 2.39 or newer?", op->workspace));
	op->tip = xstrdup(op->merge->start);
	strings_append(&op->words, op->keep_ref);
	return STAGE_DIR_KEPT;
}

static bool is_given(const struct git_op *op, const char *data, size_t size)
{
	return size == strlen(op->given_commit) + 1 && memcmp(data, op->given_commit, size - 1) == 0;
}

static enum stage has_moved(struct git_op *op)
{
	return op_fail(op, xasprintf("%s: HEAD is not at %.12s, which is to be integrated; " OP_KEPT, op->dir, op->given_commit));
}

enum stage dir_kept_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	op->merge->kept = ok && is_given(op, data, size);
	op->place = op->dir;
	return STAGE_DIR_HEAD;
}

enum stage dir_head_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *head;

	if (is_given(op, data, size)) {
		strings_append(&op->words, op->keep_ref);
		strings_append(&op->words, op->given_commit);
		return STAGE_DIR_KEEP;
	}
	if (!ok || size < 2 || !op->merge->kept)
		return has_moved(op);
	/* Begun again, behind the reset: HEAD is the tip of then. */
	head = xmemdup0(data, size - 1);
	strings_append(&op->words, head);
	strings_append(&op->words, op->tip);
	free(head);
	return STAGE_DIR_BEHIND;
}

/* What was laid there must be known to git, so that it goes with the next reset. */
enum stage dir_behind_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	if (!ok)
		return has_moved(op);
	strings_append(&op->words, op->merge->tree);
	return STAGE_DIR_FORGET;
}

enum stage dir_keep_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_DIR_RESET;
}

enum stage dir_reset_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return tree_start(op);
}

enum stage conflict_written(struct git_op *op)
{
	if (op->tip_tree != NULL) {
		op->commit = xstrdup(op->tip);
		return STAGE_NONE;
	}
	op->tip_tree = xstrdup(op->tree);
	strings_append(&op->words, op->merge->tree);
	return STAGE_DIR_LAY;
}

enum stage dir_lay_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_DIR_BACK;
}

enum stage dir_back_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return tree_start(op);
}
