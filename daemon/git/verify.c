/* SPDX-License-Identifier: MIT */
/* VERIFY: is the work tree, or the checkout that the reviewer had to itself, as it was? Nothing in it is touched. */
#include <stdlib.h>
#include <string.h>

#include "git/op_int.h"
#include "record/host_fault.h"

#define NEW_SHOWN 20

/* A person, or another slot, may have made files in the workspace while the reviewer looked at its checkout. */
static enum stage look_beside(struct git_op *op)
{
	free(op->dir);
	op->dir = NULL;
	op->in_workspace = true;
	free(op->tree);
	op->tree = NULL;
	return tree_start(op);
}

static enum stage verified(struct git_op *op)
{
	if (op->dir != NULL)
		return op->repository == NULL ? look_beside(op) : STAGE_NONE;
	names_end(&op->appeared);
	return beside_keep(op);
}

enum stage verify_tree(struct git_op *op)
{
	return strcmp(op->tree, op->given) != 0 ? STAGE_COMPARE : verified(op);
}

/* Of a checkout only what was laid there is looked at: what was made beside it is in nobody's way, and goes with it. */
enum stage verify_checkout(struct git_op *op)
{
	struct buf list = { 0 };
	char *error;

	buf_release(&op->input);
	for (size_t i = 0; i < op->nentries; i++) {
		buf_addf(&list, "H %06o %s 0\t%s", op->entries[i].mode, op->entries[i].id, op->entries[i].path);
		buf_add(&list, "", 1);
	}
	op_fresh_index(op);
	op->snapshot = snapshot_new(op->dir, op->scratch, NULL);
	error = snapshot_list(op->snapshot, NULL, list.data != NULL ? list.data : "", list.size);
	buf_release(&list);
	return error != NULL ? op_fail(op, error) : tree_files(op);
}

/* What is new beside a checkout is no matter: it goes with it. */
static void take_change(struct git_op *op, const struct change *c)
{
	if (c->was != 0 && !op->in_workspace)
		names_add(&op->changed, c->path);
	if (c->was != 0 || op->dir != NULL)
		return;
	changes_add(&op->seen, c->path, c->mode, c->id);
	op->appeared.shown = NEW_SHOWN;
	if (!beside_has(op, c->path, c->mode, c->id))
		names_add(&op->appeared, c->path);
}

enum stage compare_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct changes changes = { 0 };
	bool read = changes_read(&changes, data, size, NULL);

	(void)ok;
	for (size_t i = 0; read && i < changes.count; i++)
		take_change(op, &changes.list[i]);
	/* two trees that differ, differ in something */
	read = read && changes.count > 0;
	changes_release(&changes);
	if (!read)
		return op_fail(op, xasprintf("git diff-tree: unexpected output in %s; is git 2.39 or newer?", op->workspace));
	names_end(&op->changed);
	return verified(op);
}
