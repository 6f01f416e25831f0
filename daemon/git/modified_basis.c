/* SPDX-License-Identifier: MIT */
/* Files of the review's basis that differ from the last commit: changes left by one run must not
 * decide the review of the next. */
#include <errno.h>
#include <fcntl.h>
#include <sha1.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "git/operations.h"

#define BASIS_MAX (16 * 1024 * 1024)

/* Content in git's sense: of a link its target. NULL: missing, or unreadable. */
static char *content_of(const char *path, size_t *size)
{
	char *text = NULL;
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) == -1)
		return NULL;
	if (S_ISREG(st.st_mode))
		return file_read(AT_FDCWD, path, BASIS_MAX, &text, size) == 0 ? text : NULL;
	text = S_ISLNK(st.st_mode) ? xcalloc((size_t)st.st_size + 1, 1) : NULL;
	n = text != NULL ? readlink(path, text, (size_t)st.st_size + 1) : -1;
	*size = n >= 0 ? (size_t)n : 0;
	return text;
}

/* The id of a blob in hex, as long as `like`. */
static void id_of(const char *text, size_t size, const char *like, char id[SHA256_DIGEST_STRING_LENGTH])
{
	char *object, *head = xasprintf("blob %zu", size);
	size_t n = strlen(head) + 1;

	object = xcalloc(n + size, 1);
	memcpy(object, head, n);
	memcpy(object + n, text, size);
	if (strlen(like) == 2 * SHA1_DIGEST_LENGTH)
		SHA1Data((const uint8_t *)object, n + size, id);
	else
		SHA256Data((const uint8_t *)object, n + size, id);
	free(object);
	free(head);
}

/* head: the files of HEAD. */
static bool differs(const struct git_op *op, const struct changes *head, const char *name)
{
	const struct change *committed = changes_find(head, name);
	char *path = xasprintf("%s/%s", op->spec.workspace, name), *text, id[SHA256_DIGEST_STRING_LENGTH];
	size_t n = 0;
	bool differ;

	text = content_of(path, &n);
	differ = (text != NULL) != (committed != NULL);
	if (text != NULL && committed != NULL) {
		id_of(text, n, committed->id, id);
		differ = strcmp(id, committed->id) != 0;
	}
	free(text);
	free(path);
	return differ;
}

int modified_basis_find(struct git_op *op)
{
	struct git_call call = { .flags = GIT_MAY_FAIL, .more = op->spec.basis };
	struct changes head = { 0 };
	struct names names = { 0 };
	int rv = git_run_call(op, &call, "ls-tree", "-z", "--full-tree", "HEAD", "--", NULL);

	if (rv == 0 && !changes_read_tree(&head, git_out(op), git_out_size(op)))
		rv = git_fail_output(op);
	changes_order(&head);
	/* without a commit there is nothing to compare with */
	for (size_t i = 0; rv == 0 && op->spec.basis[i] != NULL; i++)
		if (differs(op, &head, op->spec.basis[i]))
			names_add(&names, op->spec.basis[i]);
	op->result.modified_basis = names_take(&names);
	changes_release(&head);
	return rv == -1 ? -1 : 0;
}
