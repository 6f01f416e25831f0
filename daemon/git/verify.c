/* SPDX-License-Identifier: MIT */
/* VERIFY: checks that the work tree, or the reviewer's room, is unchanged. Changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "git/checkout.h"
#include "git/operations.h"
#include "git/room.h"

#define NEW_SHOWN 20

struct verify {
	struct changes known;		/* new files of an earlier VERIFY */
	struct changes seen;		/* new files that exist now */
	struct names changed, permitted, appeared;
	struct names edited;		/* changed or removed beside a checkout, since then ... */
	struct names differing;		/* ... and all of them */
};

/* Compare spec.tree with the tree of the workspace. work: changed files count. Otherwise they are
 * not the reviewer's. */
static int compare_workspace(struct git_op *op, struct verify *v, bool work)
{
	struct changes changes = { 0 };
	int rv;

	if (strcmp(op->result.tree, op->spec.tree) == 0)
		return 0;
	rv = git_diff(op, GIT_EVIDENCE, op->spec.tree, op->result.tree, NULL, &changes);
	/* two different trees must differ in some path */
	if (rv == 0 && changes.count == 0)
		rv = git_fail_output(op);
	v->appeared.shown = v->edited.shown = NEW_SHOWN;
	for (size_t i = 0; rv == 0 && i < changes.count; i++) {
		const struct change *c = &changes.list[i];

		if (c->was != 0 && work)
			names_add(&v->changed, c->path);
		if (c->was != 0 && (work || !op->spec.shared))
			continue;
		changes_add(&v->seen, c->path, c->mode, c->id);
		v->seen.list[v->seen.count - 1].was = c->was;
		memcpy(v->seen.list[v->seen.count - 1].was_id, c->was_id, sizeof(c->was_id));
		if (c->was != 0)
			names_add(&v->differing, c->path);
		if (!appeared_has(&v->known, c))
			names_add(c->was != 0 ? &v->edited : &v->appeared, c->path);
	}
	changes_release(&changes);
	return rv;
}

/* A person or another slot may have created files in the workspace while the reviewer used its
 * room. */
static int verify_workspace(struct git_op *op, struct verify *v, const struct changes *entries, bool work)
{
	if (appeared_read(op, &v->known) != 0 || disk_tree_or_same(op, entries, &op->result.tree) != 0 ||
	    compare_workspace(op, v, work) != 0)
		return -1;
	return appeared_keep(op, &v->known, &v->seen);
}

static int verify(struct git_op *op, struct verify *v)
{
	bool room = op->spec.dir != NULL;
	struct changes entries = { 0 };
	int rv = room ? checkout_list(op, op->spec.tree, &entries) : 0;

	if (rv == 0 && room)
		rv = room_compare(op, &entries, &v->changed, &v->permitted);
	if (rv == 0 && !(room && op->spec.repository != NULL))
		rv = verify_workspace(op, v, room ? &entries : NULL, !room);
	changes_release(&entries);
	return rv;
}

int verify_run(struct git_op *op)
{
	struct verify v = { 0 };
	int rv = verify(op, &v);

	op->result.changed = names_take(&v.changed);
	op->result.permitted = names_take(&v.permitted);
	op->result.appeared = names_take(&v.appeared);
	op->result.edited = names_take(&v.edited);
	op->result.differing = names_take(&v.differing);
	changes_release(&v.known);
	changes_release(&v.seen);
	return rv;
}
