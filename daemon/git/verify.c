/* SPDX-License-Identifier: MIT */
/* VERIFY: did somebody who was only to look change the work tree, or the checkout that he had to himself? */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "git/aside.h"
#include "git/op_int.h"

/* What lies aside already was moved by a daemon that died before it could tell. */
static void note_moved(void *arg, const char *path)
{
	names_add(&((struct git_op *)arg)->moved, path);
}

enum stage verify_tree(struct git_op *op)
{
	aside_each(op->aside, note_moved, op);
	if (strcmp(op->tree, op->given) != 0)
		return STAGE_COMPARE;
	names_end(&op->moved);
	return STAGE_NONE;
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

static int move_aside(struct git_op *op, const char *path)
{
	int from = open(op->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC), to = open(op->aside, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rv = from == -1 || to == -1 ? -errno : aside_move(from, to, path);

	if (from != -1)
		close(from);
	if (to != -1)
		close(to);
	return rv;
}

/* Pairs of a letter and a path: A is new, anything else changed or gone. */
enum stage compare_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	const char *end = data + size;

	(void)ok;
	for (const char *p = data; p < end; ) {
		const char *path = p + strlen(p) + 1;
		bool is_new = strcmp(p, "A") == 0;
		int rv = 0;

		if (path >= end)
			return op_fail(op, xasprintf("git diff-tree: its output ends in the middle of a name in %s", op->workspace));
		if (is_new)
			rv = move_aside(op, path);
		if (rv != 0)
			return op_fail(op, xasprintf("%s/%s: cannot be moved to %s: %s", op->workspace, path, op->aside, strerror(-rv)));
		names_add(is_new ? &op->moved : &op->changed, path);
		p = path + strlen(path) + 1;
	}
	names_end(&op->moved);
	names_end(&op->changed);
	return STAGE_NONE;
}
