/* SPDX-License-Identifier: MIT */
/* Files that appeared in the work tree while only a reviewer worked there: a person's, another
 * slot's, or leftovers of tests. They stay where they are and are not part of the work, unless a
 * writing attempt changes them. They are recorded as a tree of their own. */
#include <stdlib.h>
#include <string.h>

#include "git/operations.h"

int appeared_read(struct git_op *op, struct changes *files)
{
	if (op->spec.appeared_tree == NULL)
		return 0;
	if (git_list_tree(op, op->spec.appeared_tree, files) != 0)
		return -1;
	changes_order(files);
	return files->count > 0 ? 0 : git_fail_output(op);
}

bool appeared_has(const struct changes *files, const struct change *c)
{
	const struct change *file = changes_find(files, c->path);

	return file != NULL && file->mode == c->mode && strcmp(file->id, c->id) == 0;
}

int appeared_keep(struct git_op *op, const struct changes *files, const struct changes *seen)
{
	bool same = op->spec.appeared_tree != NULL && seen->count == files->count;
	struct buf index = { 0 };
	int rv;

	for (size_t i = 0; same && i < seen->count; i++)
		same = appeared_has(files, &seen->list[i]);
	if (same)
		return 0;
	text_set(&op->result.appeared_tree, NULL);
	if (seen->count == 0)
		return 0;
	git_fresh_index(op);
	changes_index(seen, false, &index);
	rv = git_update_index(op, GIT_INDEX, &index);
	if (rv == 0)
		rv = disk_tree_write(op, &op->result.appeared_tree);
	/* a run may be held for weeks, and without a ref gc would remove it */
	if (rv == 0 && op->spec.ref != NULL)
		rv = git_run(op, 0, "update-ref", "--no-deref", op->spec.ref, op->result.appeared_tree);
	return rv;
}
