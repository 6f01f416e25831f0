/* SPDX-License-Identifier: MIT */
/* PIN and SNAPSHOT: a ref to a tree in the user's repository, which keeps it from gc. */
#include <stdlib.h>

#include "git/evidence_repo.h"
#include "git/operations.h"
#include "git/submit_copy.h"

static int find_head(struct git_op *op)
{
	char *name;
	int rv;

	if (op->spec.name == NULL)
		return 0;
	name = xasprintf("%s^{commit}", op->spec.name);
	rv = git_resolve(op, name, &op->result.commit);
	free(name);
	return rv;
}

/* known: in both repositories, NULL: nothing. */
static int pin(struct git_op *op, const char *known)
{
	if (evidence_give(op, op->result.tree, known) != 0)
		return -1;
	return op->spec.ref != NULL ? git_run(op, 0, "update-ref", "--no-deref", op->spec.ref, op->result.tree) : 0;
}

int pin_run(struct git_op *op)
{
	text_set(&op->result.tree, op->spec.tree);
	if (compare_refs(op) != 0)
		return -1;
	if (op->result.moved != NULL)
		return 0;
	if (pin(op, op->spec.base) != 0 || find_head(op) != 0)
		return -1;
	return verify_judged(op, NULL);
}

int snapshot_run(struct git_op *op)
{
	struct changes appeared = { 0 };
	int rv;

	if (find_head(op) != 0 || evidence_open(op) != 0 || submit_copy_make(op) != 0)
		return -1;
	/* so that most files are there already */
	if (op->result.commit != NULL && evidence_fetch(op, op->result.commit) != 0)
		return -1;
	rv = appeared_read(op, &appeared);
	if (rv == 0)
		rv = disk_tree(op, appeared.count > 0 ? &appeared : NULL, &op->result.tree);
	changes_release(&appeared);
	if (rv == 0)
		rv = verify_judged(op, op->result.tree);
	return rv == 0 ? pin(op, op->result.commit) : -1;
}
