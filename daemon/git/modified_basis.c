/* SPDX-License-Identifier: MIT */
/* Files of the review's basis that differed from the last commit at submit: changes left by one run
 * must not decide the review of the next. */
#include <stdio.h>
#include <string.h>

#include "git/operations.h"

/* A line of the spec's basis: the ids of the file as it was then, "-" for none, and its name. */
struct basis {
	char sha1[GIT_ID_MAX], sha256[GIT_ID_MAX];
	const char *name;
};

static bool basis_parse(const char *line, struct basis *basis)
{
	int n = 0;

	if (sscanf(line, "%64s %64s %n", basis->sha1, basis->sha256, &n) != 2 || n == 0)
		return false;
	basis->name = line + n;
	return true;
}

/* head: the files of HEAD. */
static bool differs(const struct changes *head, const struct basis *basis)
{
	const struct change *committed = changes_find(head, basis->name);
	bool was = strcmp(basis->sha1, "-") != 0;

	if (committed == NULL || !was)
		return was != (committed != NULL);
	return strcmp(strlen(committed->id) == strlen(basis->sha1) ? basis->sha1 : basis->sha256, committed->id) != 0;
}

int modified_basis_find(struct git_op *op)
{
	char **list = NULL;
	struct git_call call = { .flags = GIT_MAY_FAIL };
	struct changes head = { 0 };
	struct names names = { 0 };
	struct basis basis;
	int rv;

	for (size_t i = 0; op->spec.basis[i] != NULL; i++)
		if (basis_parse(op->spec.basis[i], &basis))
			strings_append(&list, basis.name);
	call.more = list;
	rv = git_run_call(op, &call, "ls-tree", "-z", "--full-tree", "HEAD", "--", NULL);
	if (rv == 0 && !changes_read_tree(&head, git_out(op), git_out_size(op)))
		rv = git_fail_output(op);
	changes_order(&head);
	/* without a commit there is nothing to compare with */
	for (size_t i = 0; rv == 0 && op->spec.basis[i] != NULL; i++)
		if (basis_parse(op->spec.basis[i], &basis) && differs(&head, &basis))
			names_add(&names, basis.name);
	op->result.modified_basis = names_take(&names);
	changes_release(&head);
	strings_free(list);
	return rv == -1 ? -1 : 0;
}
