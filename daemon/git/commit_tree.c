/* SPDX-License-Identifier: MIT */
/* Makes a commit of a tree on top of another one, and points a ref at it. If it is repeated, the
 * commit in the ref is reused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "git/operations.h"

int commit_tree_saved(struct git_op *op, struct saved *saved, bool *there)
{
	size_t size = strlen(op->spec.ref);

	*there = false;
	if (git_run(op, 0, "for-each-ref", "--format=%(refname) %(objectname) %(tree) %(parent)", op->spec.ref) != 0)
		return -1;
	/* one line for each ref at or below it */
	for (const char *p = git_out(op); *p != '\0' && !*there; p += strcspn(p, "\n"), p += *p == '\n') {
		*saved = (struct saved){ 0 };
		/* an object other than a commit has no tree */
		*there = strncmp(p, op->spec.ref, size) == 0 && p[size] == ' ' &&
		    sscanf(p + size, " %64s %64[0-9a-f]%*1[ ]%64[0-9a-f]", saved->id, saved->tree, saved->parent) >= 1;
	}
	return 0;
}

static int make_commit_of(struct git_op *op, const char *tree, const char *parent, const char *second)
{
	const char *parents[5] = { NULL };
	struct buf message = { 0 };
	size_t n = 0;
	int rv = git_run(op, GIT_MAY_FAIL, "var", "GIT_COMMITTER_IDENT");

	if (rv == -1)
		return -1;
	op->anonymous = rv == 1;
	for (size_t i = 0; i < 2; i++) {
		const char *id = i == 0 ? parent : second;

		if (id == NULL)
			continue;
		parents[n++] = "-p";
		parents[n++] = id;
	}
	buf_adds(&message, op->spec.message);
	if (message.size == 0 || message.data[message.size - 1] != '\n')
		buf_adds(&message, "\n");
	rv = git_run_call(op, &(struct git_call){ .input = message.data, .input_size = message.size,
	    .more = (char *const *)parents }, "commit-tree", "--no-gpg-sign", tree, NULL);
	buf_release(&message);
	if (rv != 0 || (op->result.commit = git_line(op, "no commit")) == NULL)
		return -1;
	return git_run(op, 0, "update-ref", "--no-deref", op->spec.ref, op->result.commit);
}

int commit_tree(struct git_op *op, const char *tree, const char *parent, bool keep)
{
	struct saved saved;
	bool there;

	if (commit_tree_saved(op, &saved, &there) != 0)
		return -1;
	if (there && strcmp(saved.tree, tree) == 0 && strcmp(saved.parent, parent != NULL ? parent : "") == 0) {
		op->result.commit = xstrdup(saved.id);
		return 0;
	}
	/* do not lose what was saved earlier with the ref's new value */
	return make_commit_of(op, tree, parent, there && keep && saved.tree[0] != '\0' ? saved.id : NULL);
}
