/* SPDX-License-Identifier: MIT */
/* Files that appeared in the work tree while only a reviewer was at work there: a person's, another slot's or what tests have left.
 * They stay where they are and are no work, for as long as no attempt that is to write has changed them. What is known of them is
 * a tree of them alone. */
#include <stdlib.h>
#include <string.h>

#include "git/op_int.h"

bool beside_has(const struct git_op *op, const char *path, unsigned mode, const char *id)
{
	const struct change *file = changes_find(&op->unwanted, path);

	return file != NULL && file->mode == mode && strcmp(file->id, id) == 0;
}

enum stage beside_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (!changes_read_tree(&op->unwanted, data, size) || op->unwanted.count == 0)
		return op_fail(op, xasprintf("git ls-tree: unexpected output in %s; is git 2.39 or newer?", op->workspace));
	op->knows = true;
	changes_order(&op->unwanted);
	return STAGE_LIST;
}

static bool is_as_known(const struct git_op *op)
{
	bool same = op->seen.count == op->unwanted.count;

	for (size_t i = 0; same && i < op->seen.count; i++)
		same = beside_has(op, op->seen.list[i].path, op->seen.list[i].mode, op->seen.list[i].id);
	return same;
}

enum stage beside_keep(struct git_op *op)
{
	if (op->beside != NULL && is_as_known(op))
		return STAGE_NONE;
	free(op->beside);
	op->beside = NULL;
	if (op->seen.count == 0)
		return STAGE_NONE;
	op_fresh_index(op);
	changes_index(&op->seen, false, &op->input);
	return STAGE_BESIDE_INDEX;
}

enum stage beside_index_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_BESIDE_TREE;
}

enum stage beside_tree_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (size < 2)
		return op_fail(op, xasprintf("git write-tree: no tree id in %s", op->workspace));
	op->beside = xmemdup0(data, size - 1);
	return op->ref != NULL ? STAGE_BESIDE_PIN : STAGE_NONE;
}

/* A run may be held for weeks, and a gc meanwhile would take what nothing leads to. */
enum stage beside_pin_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_NONE;
}
