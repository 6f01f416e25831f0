/* SPDX-License-Identifier: MIT */
/* WORKTREE_ADD with a tree: the work of an earlier run is laid out in the new work tree, where its
 * base was just checked out. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/checkout.h"
#include "git/evidence_repo.h"
#include "git/operations.h"
#include "git/unpack.h"
#include "record/host_fault.h"

/* Runs of earlier versions have their trees in the user's repository. 0: the tree is in the
 * evidence repository; 1: it is nowhere; -1. */
static int find_work(struct git_op *op)
{
	struct buf ids = { 0 };
	int rv = git_run(op, GIT_EVIDENCE | GIT_MAY_FAIL, "cat-file", "-e", op->spec.tree);

	if (rv <= 0)
		return rv;
	rv = git_run(op, GIT_MAY_FAIL, "rev-list", "--objects", "--no-object-names", op->spec.tree);
	if (rv != 0)
		return rv == -1 ? -1 : 1;
	buf_add(&ids, git_out(op), git_out_size(op));
	rv = evidence_take(op, &ids);
	buf_release(&ids);
	return rv;
}

static bool same_entry(const struct change *a, const struct change *b)
{
	return b != NULL && a->mode == b->mode && strcmp(a->id, b->id) == 0;
}

/* Directories that become empty go, too: a file may come in their place. 0 or -errno. */
static int remove_file(struct unpack *unpack, const char *path)
{
	char *parent = xstrdup(path), *slash;
	const char *name;
	int at, rv = unpack_find(unpack, path, &at, &name);

	if (rv == 0 && unlinkat(at, name, 0) == -1 && (errno != EISDIR || unlinkat(at, name, AT_REMOVEDIR) == -1))
		rv = -errno;
	while (rv == 0 && (slash = strrchr(parent, '/')) != NULL) {
		*slash = '\0';
		if (unpack_find(unpack, parent, &at, &name) != 0 || unlinkat(at, name, AT_REMOVEDIR) == -1)
			break;
	}
	free(parent);
	return rv == -ENOENT ? 0 : rv;
}

/* Remove what differs, then write it. */
static int change_files(struct git_op *op, const struct changes *base, const struct changes *work)
{
	struct changes written = { 0 };
	struct unpack *unpack = NULL;
	int rv = unpack_open(op->spec.dir, &unpack);

	for (size_t i = 0; rv == 0 && i < base->count; i++)
		if (!same_entry(&base->list[i], changes_find(work, base->list[i].path)))
			rv = remove_file(unpack, base->list[i].path);
	if (rv != 0)
		rv = git_fail(op, xasprintf("%s: %s", op->spec.dir, host_words(-rv)));
	written.list = xcalloc(work->count, sizeof(*written.list));
	for (size_t i = 0; i < work->count; i++)
		if (!same_entry(&work->list[i], changes_find(base, work->list[i].path)))
			written.list[written.count++] = work->list[i];
	if (rv == 0)
		rv = checkout_write(op, &written, unpack);
	free(written.list);
	unpack_free(unpack);
	return rv;
}

int lay_work(struct git_op *op)
{
	struct changes base = { 0 }, work = { 0 };
	int rv;

	if (op->spec.tree == NULL || op->objects == NULL)
		return 0;
	rv = find_work(op);
	if (rv != 0)
		return rv == 1 ? 0 : -1;
	rv = checkout_list(op, op->result.tree, &base);
	if (rv == 0)
		rv = checkout_list(op, op->spec.tree, &work);
	if (rv == 0)
		rv = change_files(op, &base, &work);
	op->result.laid = rv == 0;
	changes_release(&base);
	changes_release(&work);
	return rv;
}
