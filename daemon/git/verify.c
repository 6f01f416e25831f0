/* SPDX-License-Identifier: MIT */
/* VERIFY: checks that the work tree, or the reviewer's checkout, is unchanged. Changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "git/checkout.h"
#include "git/gitdir.h"

#define NEW_SHOWN 20

struct verify {
	struct changes known;		/* new files of an earlier VERIFY */
	struct changes seen;		/* new files that exist now */
	struct names changed, appeared;
};

/* Compare spec.tree with the files. checkout: new files there do not matter, and are removed with
 * it. work: changed files count, not only new ones. */
static int compare_trees(struct git_op *op, struct verify *v, bool checkout, bool work)
{
	struct changes changes = { 0 };
	int rv;

	if (strcmp(op->result.tree, op->spec.tree) == 0)
		return 0;
	rv = git_diff(op, GIT_INDEX, op->spec.tree, op->result.tree, NULL, &changes);
	/* two different trees must differ in some path */
	if (rv == 0 && changes.count == 0)
		rv = git_fail_output(op);
	v->appeared.shown = NEW_SHOWN;
	for (size_t i = 0; rv == 0 && i < changes.count; i++) {
		const struct change *c = &changes.list[i];

		if (c->was != 0 && work)
			names_add(&v->changed, c->path);
		if (c->was != 0 || checkout)
			continue;
		changes_add(&v->seen, c->path, c->mode, c->id);
		if (!appeared_has(&v->known, c))
			names_add(&v->appeared, c->path);
	}
	changes_release(&changes);
	return rv;
}

/* The tree of the checkout: only what was unpacked there is compared. */
static int checkout_tree(struct git_op *op)
{
	struct changes entries = { 0 };
	struct snapshot *s = snapshot_new(op->spec.dir, op->spec.scratch, NULL);
	char *own = git_dir_own(op->spec.workspace);
	const char *git_dir = own != NULL ? own : op->spec.workspace;
	int rv = checkout_list(op, op->spec.tree, &entries);

	if (rv == 0)
		rv = disk_tree_add(op, s, &entries, op->spec.dir);
	if (rv == 0)
		rv = disk_tree_stage(op, s, git_dir, op->spec.dir);
	if (rv == 0)
		rv = disk_tree_write(op, &op->result.tree);
	snapshot_free(s);
	changes_release(&entries);
	free(own);
	return rv;
}

static int verify(struct git_op *op, struct verify *v)
{
	bool checkout = op->spec.dir != NULL;

	if (checkout && (checkout_tree(op) != 0 || compare_trees(op, v, true, true) != 0))
		return -1;
	if (checkout && op->spec.repository != NULL)
		return 0;
	/* a person or another slot may have created files in the workspace while the reviewer used
	 * its checkout */
	if (appeared_read(op, &v->known) != 0 || disk_tree(op, NULL, &op->result.tree) != 0 ||
	    compare_trees(op, v, false, !checkout) != 0)
		return -1;
	return appeared_keep(op, &v->known, &v->seen);
}

int verify_run(struct git_op *op)
{
	struct verify v = { 0 };
	int rv = verify(op, &v);

	op->result.changed = names_take(&v.changed);
	op->result.appeared = names_take(&v.appeared);
	changes_release(&v.known);
	changes_release(&v.seen);
	return rv;
}
