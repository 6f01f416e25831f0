/* SPDX-License-Identifier: MIT */
/* MEASURE, before a reviewer is paid: could what is there be committed? Marks of a conflict say no, and so may a hook of the repository.
 * A hook may also put files in form: what it has left is measured, and it is asked about that once more. Nothing is committed here. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "git/op_int.h"

#define REHEARSALS_MAX 2

/* Of a tree that no hook has been asked about. */
static enum stage hooks(struct git_op *op)
{
	if (op->message == NULL)
		return STAGE_PATCH;
	return op->rehearsals == 0 ? STAGE_HOOKS : rehearse_begin(op);
}

enum stage rehearse(struct git_op *op)
{
	bool asked = op->rehearsed != NULL && strcmp(op->rehearsed, op->tree) == 0;

	if (asked || op->rehearsals == REHEARSALS_MAX)
		return STAGE_PATCH;
	return op->repository != NULL && attach_was_in_conflict(op) ? attach_marks(op) : hooks(op);
}

enum stage rehearse_marked(struct git_op *op)
{
	return op->conflicts.count > 0 ? STAGE_PATCH : hooks(op);
}

/* The directory of the hooks. Without any, nobody is asked. */
enum stage rehearse_hooks_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	static const char *const names[] = { "pre-commit", "prepare-commit-msg", "commit-msg" };
	char *dir = xmemdup0(data, size > 0 ? size - 1 : 0);
	bool any = false;

	(void)ok;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *hook = xasprintf("%s/%s", dir, names[i]);

		any = any || access(hook, X_OK) == 0;
		free(hook);
	}
	free(dir);
	return any ? rehearse_begin(op) : STAGE_PATCH;
}

enum stage rehearse_begin(struct git_op *op)
{
	free(op->refused);
	op->refused = NULL;
	free(op->rehearsed);
	op->rehearsed = xstrdup(op->tree);
	op->rehearsals++;
	return STAGE_CHANGES;
}

/* The hooks have said what they have to say. */
enum stage rehearse_over(struct git_op *op)
{
	changes_release(&op->wanted);
	free(op->planned);
	op->planned = NULL;
	free(op->tip);
	op->tip = NULL;
	return op->error == NULL ? tree_start(op) : STAGE_NONE;
}
