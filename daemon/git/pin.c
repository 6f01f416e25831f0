/* SPDX-License-Identifier: MIT */
/* PIN and SNAPSHOT: a ref to a tree, which keeps it from gc. */
#include <stdlib.h>

#include "git/operations.h"

static int pin(struct git_op *op)
{
	char *name;
	int rv = 0;

	if (op->spec.ref != NULL && git_run(op, 0, "update-ref", "--no-deref", op->spec.ref, op->result.tree) != 0)
		return -1;
	if (op->spec.name == NULL)
		return 0;
	name = xasprintf("%s^{commit}", op->spec.name);
	rv = git_resolve(op, name, &op->result.commit);
	free(name);
	return rv;
}

int pin_run(struct git_op *op)
{
	text_set(&op->result.tree, op->spec.tree);
	return pin(op);
}

int snapshot_run(struct git_op *op)
{
	return disk_tree(op, NULL, &op->result.tree) == 0 ? pin(op) : -1;
}
