/* SPDX-License-Identifier: MIT */
/* Files that appeared, changed or vanished in the work tree while no attempt of the slot worked
 * there: a person's, another slot's, or leftovers of tests. They stay as they are and are not part
 * of the work, unless a writing attempt changes them. They are recorded as a tree of their own, and
 * what the work has in their place as another: "TREE" or "TREE PLACE". */
#include <stdlib.h>
#include <string.h>

#include "git/operations.h"

int appeared_read(struct git_op *op, struct changes *files)
{
	const char *both = op->spec.appeared_tree, *space = both != NULL ? strchr(both, ' ') : NULL;
	char *tree;
	int rv;

	if (both == NULL)
		return 0;
	tree = xmemdup0(both, space != NULL ? (size_t)(space - both) : strlen(both));
	if (space != NULL)
		rv = git_diff(op, GIT_EVIDENCE, space + 1, tree, NULL, files);
	else
		rv = git_list_tree(op, tree, files);
	free(tree);
	if (rv != 0)
		return -1;
	changes_order(files);
	return files->count > 0 ? 0 : git_fail_output(op);
}

bool appeared_has(const struct changes *files, const struct change *c)
{
	const struct change *file = changes_find(files, c->path);

	return file != NULL && file->mode == c->mode && strcmp(file->id, c->id) == 0;
}

/* A tree of these lines; *tree is malloc'd. */
static int tree_of(struct git_op *op, struct buf *lines, char **tree)
{
	int rv;

	git_fresh_index(op);
	rv = git_update_index(op, GIT_EVIDENCE | GIT_INDEX, lines);
	return rv == 0 ? disk_tree_write(op, GIT_EVIDENCE, tree) : -1;
}

int appeared_keep(struct git_op *op, const struct changes *files, const struct changes *seen)
{
	bool same = op->spec.appeared_tree != NULL && seen->count == files->count;
	struct buf index = { 0 }, before = { 0 };
	char *tree = NULL, *place = NULL;
	int rv;

	for (size_t i = 0; same && i < seen->count; i++)
		same = appeared_has(files, &seen->list[i]);
	if (same)
		return 0;
	text_set(&op->result.appeared_tree, NULL);
	if (seen->count == 0)
		return 0;
	changes_index(seen, false, &index);
	changes_index_before(seen, &before);
	rv = before.size > 0 ? tree_of(op, &before, &place) : 0;
	if (rv == 0)
		rv = tree_of(op, &index, &tree);
	/* a run may be held for weeks, and without a ref the user's gc would remove it */
	if (rv == 0 && op->objects == NULL && op->spec.ref != NULL)
		rv = git_run(op, 0, "update-ref", "--no-deref", op->spec.ref, tree);
	if (rv == 0)
		op->result.appeared_tree = place != NULL ? xasprintf("%s %s", tree, place) : xstrdup(tree);
	buf_release(&before);
	buf_release(&index);
	free(place);
	free(tree);
	return rv;
}
