/* SPDX-License-Identifier: MIT */
/* A tree becomes a commit on top of another, and a ref is pointed there. Begun again, the commit that the ref has
 * already is taken for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "git/op_int.h"

/* op->tree on top of op->tip (NULL: without a parent), under op->ref. */
enum stage keep_start(struct git_op *op)
{
	strings_append(&op->words, op->ref);
	return STAGE_KEPT;
}

/* One line "ref commit tree parents" for each ref at or below op->ref. False: op->ref is not there. */
bool kept_read(const struct git_op *op, const char *data, struct kept *kept)
{
	size_t size = strlen(op->ref);

	for (const char *p = data; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
		*kept = (struct kept){ 0 };
		if (strncmp(p, op->ref, size) != 0 || p[size] != ' ')
			continue;
		/* What is no commit has no tree. */
		if (sscanf(p + size, " %64s %64[0-9a-f]%*1[ ]%64[0-9a-f]", kept->id, kept->tree, kept->parent) >= 1)
			return true;
	}
	return false;
}

enum stage kept_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct kept kept;
	bool there = kept_read(op, data, &kept);

	(void)ok, (void)size;
	if (there && strcmp(kept.tree, op->tree) == 0 && strcmp(kept.parent, op->tip != NULL ? op->tip : "") == 0) {
		op->commit = xstrdup(kept.id);
		return keep_end(op);
	}
	/* What was saved before must not be lost with the ref's new value. */
	if (there && op->kind == GIT_CLEAR && kept.tree[0] != '\0')
		op->also = xstrdup(kept.id);
	return STAGE_WHO;
}

enum stage who_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	op->anonymous = !ok;
	strings_append(&op->words, op->tree);
	for (size_t i = 0; i < 2; i++) {
		const char *parent = i == 0 ? op->tip : op->also;

		if (parent == NULL)
			continue;
		strings_append(&op->words, "-p");
		strings_append(&op->words, parent);
	}
	buf_adds(&op->input, op->message);
	if (op->message[strlen(op->message) - 1] != '\n')
		buf_adds(&op->input, "\n");
	return STAGE_COMMIT_TREE;
}

enum stage commit_tree_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (size < 2)
		return op_fail(op, xasprintf("git commit-tree: no commit in %s", op->workspace));
	op->commit = xmemdup0(data, size - 1);
	return STAGE_POINT;
}

enum stage point_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return keep_end(op);
}

/* The ref has it. */
enum stage keep_end(struct git_op *op)
{
	if (op->kind == GIT_CLEAR)
		return clear_saved(op);
	return op->kind == GIT_BASE && op->branch != NULL ? reserve_start(op) : STAGE_NONE;
}
