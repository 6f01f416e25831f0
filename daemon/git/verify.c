/* SPDX-License-Identifier: MIT */
/* VERIFY: checks that the work tree, or the reviewer's room, is unchanged. FIND_EDITS: what people
 * have changed in the work tree. Both change nothing. And the comparison of the work tree with what
 * was judged, where another operation ends. */
#include <stdlib.h>
#include <string.h>

#include "git/checkout.h"
#include "git/copied_files.h"
#include "git/operations.h"
#include "git/room.h"
#include "record/host_fault.h"

#define NEW_SHOWN 20

struct verify {
	struct changes known;		/* new files of an earlier VERIFY */
	struct changes seen;		/* new files that exist now */
	struct names changed, permitted, appeared;
	struct names edited;		/* changed or removed beside a checkout since then */
};

static void add(struct changes *all, const struct change *c)
{
	changes_add(all, c->path, c->mode, c->id);
	all->list[all->count - 1].was = c->was;
	memcpy(all->list[all->count - 1].was_id, c->was_id, sizeof(c->was_id));
}

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
		add(&v->seen, c);
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
	if (rv == 0 && !(room && (op->spec.repository != NULL || op->spec.room_only)))
		rv = verify_workspace(op, v, room ? &entries : NULL, !room);
	changes_release(&entries);
	return rv;
}

static int find_edits(struct git_op *op, struct verify *v)
{
	struct changes entries = { 0 };
	int rv = checkout_list(op, op->spec.tree, &entries);

	if (rv == 0)
		rv = verify_workspace(op, v, &entries, false);
	if (rv == 0)
		rv = copied_files_hash(op);
	changes_release(&entries);
	return rv;
}

static int run(struct git_op *op, int (*compares)(struct git_op *op, struct verify *v))
{
	struct verify v = { 0 };
	int rv = compares(op, &v);

	op->result.changed = names_take(&v.changed);
	op->result.permitted = names_take(&v.permitted);
	op->result.appeared = names_take(&v.appeared);
	op->result.edited = names_take(&v.edited);
	changes_release(&v.known);
	changes_release(&v.seen);
	return rv;
}

int verify_run(struct git_op *op)
{
	return run(op, verify);
}

int find_edits_run(struct git_op *op)
{
	return run(op, find_edits);
}

/* It is no part of the work, like those that are known. */
static int set_beside(struct git_op *op, const struct changes *known, const struct change *c)
{
	struct changes all = { 0 };
	int rv;

	for (size_t i = 0; i < known->count; i++)
		if (strcmp(known->list[i].path, c->path) != 0)
			add(&all, &known->list[i]);
	add(&all, c);
	changes_order(&all);
	rv = appeared_keep(op, known, &all);
	changes_release(&all);
	return rv;
}

static int compare(struct git_op *op, char **tree)
{
	struct names names = { .shown = NEW_SHOWN };
	struct changes changes = { 0 }, known = { 0 };
	int rv = *tree == NULL ? disk_tree(op, NULL, tree) : 0;

	if (rv == 0)
		rv = appeared_read(op, &known);
	if (rv == 0 && strcmp(*tree, op->spec.judged) != 0)
		rv = git_diff(op, GIT_EVIDENCE, op->spec.judged, *tree, NULL, &changes);
	for (size_t i = 0; rv == 0 && i < changes.count; i++) {
		if (op->spec.settings != NULL && strcmp(changes.list[i].path, op->spec.settings) == 0)
			rv = set_beside(op, &known, &changes.list[i]);
		else if (changes.list[i].was != 0 || !appeared_has(&known, &changes.list[i]))
			names_add(&names, changes.list[i].path);
	}
	op->result.differing = names_take(&names);
	changes_release(&known);
	changes_release(&changes);
	return rv;
}

int verify_judged(struct git_op *op, const char *known)
{
	char *tree = xstrdup(known);
	int rv = op->spec.judged != NULL ? compare(op, &tree) : 0;

	free(tree);
	if (rv == 0)
		return 0;
	if (op->result.fault == 0)
		op->result.fault = host_noted();
	if (op->result.fault != 0)
		return -1;
	/* a person may do there what they like: the operation is done nevertheless */
	op->result.differing = op->result.error;
	op->result.error = NULL;
	return 0;
}
