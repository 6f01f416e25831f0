/* SPDX-License-Identifier: MIT */
/* BASE: the commit that work starts from. Uncommitted work gets into one by a copy of the user's index: it knows what
 * he forced in, took out, or does not have checked out. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/gitdir.h"
#include "git/op_int.h"
#include "proto/escape.h"
#include "record/host_fault.h"

/* ---- the commit below ---- */

static enum stage tree_of(struct git_op *op, const char *commit)
{
	char *word = xasprintf("%s^{tree}", commit);

	strings_append(&op->words, word);
	free(word);
	return STAGE_BASE_TREE;
}

static enum stage named(struct git_op *op)
{
	char *shown, *error;

	if (op->name[0] != '-' && op->name[0] != '\0' && op->tip != NULL) {
		char *word = xasprintf("%s^{commit}", op->name);

		strings_append(&op->words, word);
		free(word);
		return STAGE_NAMED;
	}
	shown = text_escape(op->name, strlen(op->name), false);
	error = op->tip == NULL ? xasprintf("%s has no commit yet, so it has none in common with '%s'; commit something, or leave --base out", op->workspace, shown) :
	    xasprintf("'%s' is no name of a branch or commit in %s; see `git branch -a` there", shown, op->workspace);
	free(shown);
	return op_fail(op, error);
}

enum stage base_tip_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	if (ok && size > 1)
		op->tip = xmemdup0(data, size - 1);
	if (op->name != NULL)
		return named(op);
	if (!op->bare)
		return tree_start(op);
	if (op->tip == NULL)
		return op_fail(op, xasprintf("%s has neither a commit nor a work tree to start from; push something there", op->workspace));
	op->commit = xstrdup(op->tip);
	return tree_of(op, op->tip);
}

enum stage named_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	if (!ok || size < 2) {
		char *shown = text_escape(op->name, strlen(op->name), false);
		char *error = xasprintf("'%s' is no branch or commit in %s; see `git branch -a` there, or fetch it first", shown, op->workspace);

		free(shown);
		return op_fail(op, error);
	}
	op->also = xmemdup0(data, size - 1);
	strings_append(&op->words, op->also);
	return STAGE_MERGE_BASE;
}

enum stage merge_base_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	if (!ok || size < 2) {
		char *file = xasprintf("%s/shallow", op->common), *shown = text_escape(op->name, strlen(op->name), false);
		bool shallow = access(file, F_OK) == 0;
		char *error = xasprintf("HEAD and '%s' have no commit in common in %s; %s", shown, op->workspace,
		    shallow ? "the clone is shallow: run `git fetch --unshallow` there" : "name the branch that HEAD came from");

		free(file);
		free(shown);
		return op_fail(op, error);
	}
	op->commit = xmemdup0(data, size - 1);
	return tree_of(op, op->commit);
}

enum stage base_tree_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *tree = size > 1 ? xmemdup0(data, size - 1) : xstrdup("");
	bool same = op->tree != NULL && strcmp(op->tree, tree) == 0;

	(void)ok;
	if (op->tree == NULL) {
		op->tree = tree;
		return STAGE_POINT;
	}
	free(tree);
	if (!same)
		return keep_start(op);
	op->commit = xstrdup(op->tip);
	return STAGE_POINT;
}

/* ---- uncommitted work ---- */

/* False: a merge was left half-way. */
bool base_is_merged(const char *data, size_t size)
{
	for (const char *p = data, *end = data + size; p < end; p += strlen(p) + 1) {
		if (p[0] == 'M' && p[1] == ' ')
			return false;
	}
	return true;
}

static int copy_all(int in, int out)
{
	ssize_t n;

	do {
		n = sendfile(out, in, NULL, 1 << 30);
	} while (n > 0 || (n == -1 && errno == EINTR));
	return n == 0 ? 0 : -errno;
}

/* With its time: to git, a file that is younger than the index may have changed unnoticed. 0 or -errno. */
static int copy_index(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out, rv;
	struct timespec times[2];
	struct stat st;

	if (in == -1)
		return errno == ENOENT ? 0 : -errno;	/* nothing was ever added */
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	rv = out == -1 || fstat(in, &st) == -1 ? -errno : copy_all(in, out);
	if (rv == 0) {
		times[0] = st.st_atim;
		times[1] = st.st_mtim;
		rv = futimens(out, times) == -1 ? -errno : 0;
	}
	close(in);
	if (out != -1 && close(out) == -1 && rv == 0)
		rv = -errno;
	return rv;
}

static enum stage add(struct git_op *op)
{
	snapshot_names(op->snapshot, false, &op->input);
	return op->input.size > 0 ? STAGE_BASE_ADD : STAGE_TREE;
}

/* What there is is known: into the index with it. */
enum stage base_files(struct git_op *op)
{
	char *own = git_dir_own(op->workspace), *index = xasprintf("%s/index", own != NULL ? own : op->workspace);
	int rv;

	op_fresh_index(op);
	rv = copy_index(index, op->index);
	free(own);
	if (rv != 0) {
		op_fail(op, xasprintf("%s: %s; make it readable for the daemon's user", index, host_words(-rv)));
		free(index);
		return STAGE_NONE;
	}
	free(index);
	snapshot_names(op->snapshot, true, &op->input);
	return op->input.size > 0 ? STAGE_BASE_REMOVE : add(op);
}

enum stage base_remove_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return add(op);
}

enum stage base_add_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_TREE;
}

enum stage base_written(struct git_op *op)
{
	return op->tip != NULL ? tree_of(op, op->tip) : keep_start(op);
}
