/* SPDX-License-Identifier: MIT */
/* BASE: the commit that work starts from. Uncommitted work is included by means of a copy of the
 * user's index, which knows forced, removed and sparse paths. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/evidence_repo.h"
#include "git/gitdir.h"
#include "git/operations.h"
#include "git/submit_copy.h"
#include "proto/escape.h"
#include "record/host_fault.h"

/* ---- the commit below ---- */

static int fail_name(struct git_op *op, const char *before, const char *behind)
{
	char *shown = text_escape(op->spec.name, strlen(op->spec.name), false);

	git_fail(op, xasprintf("%s'%s'%s", before, shown, behind));
	free(shown);
	return -1;
}

static int no_common_commit(struct git_op *op)
{
	char *file = xasprintf("%s/shallow", op->common), *text;
	int rv;

	text = xasprintf(" have no common ancestor in %s; %s", op->spec.workspace, access(file, F_OK) == 0 ?
	    "the clone is shallow: run `git fetch --unshallow` there" :
	        "name the branch that HEAD was created from");
	rv = fail_name(op, "HEAD and ", text);
	free(text);
	free(file);
	return rv;
}

/* The merge base of HEAD and the name. */
static int from_name(struct git_op *op)
{
	const char *tip = op->result.head;
	char *name, *id = NULL, *text;
	int rv;

	if (tip == NULL) {
		text = xasprintf("%s has no commit yet, so it has no common ancestor with ", op->spec.workspace);
		rv = fail_name(op, text, "; commit something, or leave --base out");
		free(text);
		return rv;
	}
	if (op->spec.name[0] == '-' || op->spec.name[0] == '\0') {
		text = xasprintf(" is not a valid name of a branch or commit in %s; see `git "
		    "branch -a` there",
		    op->spec.workspace);
		rv = fail_name(op, "", text);
		free(text);
		return rv;
	}
	name = xasprintf("%s^{commit}", op->spec.name);
	rv = git_resolve(op, name, &id);
	free(name);
	if (rv == 0 && id == NULL) {
		text = xasprintf(" is not a branch or commit in %s; see `git branch -a` there, or "
		    "fetch it first",
		    op->spec.workspace);
		rv = fail_name(op, "", text);
		free(text);
	}
	if (rv == 0)
		rv = git_run(op, GIT_MAY_FAIL, "merge-base", tip, id);
	if (rv == 0)
		op->result.commit = git_out_line(op);
	if (rv == 1 || (rv == 0 && op->result.commit == NULL))
		rv = no_common_commit(op);
	free(id);
	return rv;
}

static int tree_of(struct git_op *op, const char *commit, char **tree)
{
	char *name = xasprintf("%s^{tree}", commit);
	int rv = git_run(op, 0, "rev-parse", "--verify", "-q", name);

	free(name);
	*tree = rv == 0 ? git_out_line(op) : NULL;
	if (rv == 0 && *tree == NULL)
		*tree = xstrdup("");
	return rv;
}

/* ---- uncommitted work ---- */

static int copy_all(int in, int out)
{
	ssize_t n;

	do {
		n = sendfile(out, in, NULL, 1 << 30);
	} while (n > 0 || (n == -1 && errno == EINTR));
	return n == 0 ? 0 : -errno;
}

/* With its time stamp: git rehashes files that are younger than the index. 0 or -errno. */
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

static int take_index(struct git_op *op)
{
	char *own = git_dir_own(op->spec.workspace),
	    *index = xasprintf("%s/index", own != NULL ? own : op->spec.workspace);
	int rv;

	git_fresh_index(op);
	rv = copy_index(index, op->index);
	if (rv != 0)
		rv = git_fail(op, xasprintf("%s: %s; make it readable for the user of the agents", index,
		    host_words(-rv)));
	free(own);
	free(index);
	return rv;
}

/* The tree of the files, through clean filters. */
static int take_filtered_tree(struct git_op *op, void *arg)
{
	struct snapshot *s = snapshot_new(op->place, op->spec.scratch, op->artifacts);
	struct buf gone = { 0 }, here = { 0 };
	int rv;

	git_fresh_index(op);
	snapshot_shared_paths(s, op->shared_paths);
	rv = disk_tree_list(op, s);
	if (rv == 0)
		rv = take_index(op);
	snapshot_names(s, true, &gone);
	if (rv == 0 && gone.size > 0)
		rv = git_run_input(op, GIT_INDEX, &gone, "update-index", "--force-remove", "-z", "--stdin");
	snapshot_names(s, false, &here);
	if (rv == 0 && here.size > 0)
		rv = git_run_input(op, GIT_INDEX | GIT_FILTERED | GIT_FILES | GIT_MOVING, &here,
		    "update-index", "--add", "--remove", "--replace", "-z", "--stdin");
	buf_release(&gone);
	buf_release(&here);
	snapshot_free(s);
	return rv == 0 ? disk_tree_write(op, 0, arg) : -1;
}

/* HEAD, or a commit of the files on top of it. 1: result.commit is under spec.ref already. */
static int from_work(struct git_op *op)
{
	char *tree = NULL;
	int rv = disk_tree_twice(op, take_filtered_tree, &op->result.tree);

	if (rv == 0 && op->result.head != NULL)
		rv = tree_of(op, op->result.head, &tree);
	if (rv == 0 && tree != NULL && strcmp(op->result.tree, tree) == 0)
		op->result.commit = xstrdup(op->result.head);
	else if (rv == 0)
		rv = commit_tree(op, op->result.tree, op->result.head, false) == 0 ? 1 : -1;
	free(tree);
	return rv;
}

/* That of an earlier run. */
static int from_commit(struct git_op *op)
{
	char *name = xasprintf("%s^{commit}", op->spec.commit);
	int rv = git_resolve(op, name, &op->result.commit);

	free(name);
	if (rv == 0 && op->result.commit == NULL)
		rv = git_fail(op, xasprintf("%s no longer has commit %.12s, which the work to be continued starts "
		    "from; `rlctl retry --from-scratch` starts over", op->spec.workspace, op->spec.commit));
	return rv == 0 ? tree_of(op, op->result.commit, &op->result.tree) : -1;
}

static int find_commit(struct git_op *op)
{
	int rv;

	if (op->spec.commit != NULL)
		return from_commit(op);
	if (op->spec.name == NULL && !op->bare)
		return from_work(op);
	if (op->spec.name != NULL)
		rv = from_name(op);
	else if (op->result.head == NULL)
		rv = git_fail(op, xasprintf("%s has neither a commit nor a work tree to start from; "
		    "push something there", op->spec.workspace));
	else
		rv = (op->result.commit = xstrdup(op->result.head)) != NULL ? 0 : -1;
	return rv == 0 ? tree_of(op, op->result.commit, &op->result.tree) : rv;
}

/* The commit goes into the evidence repository. */
static int fetch_commit(struct git_op *op)
{
	op->objects = op->spec.evidence;
	if (evidence_open(op) != 0 || submit_copy_make(op) != 0)
		return -1;
	return evidence_fetch(op, op->result.commit);
}

int base_run(struct git_op *op)
{
	int rv;

	op->objects = NULL;		/* the commit is the user's */
	if (git_find_common(op) != 0 || git_resolve(op, "HEAD^{commit}", &op->result.head) != 0)
		return -1;
	rv = find_commit(op);
	if (rv == 0)
		rv = git_run(op, 0, "update-ref", "--no-deref", op->spec.ref, op->result.commit);
	if (rv == -1 || fetch_commit(op) != 0)
		return -1;
	return op->spec.branch == NULL ? 0 : branch_reserve(op, op->spec.commit != NULL && op->spec.known != NULL ?
	    op->spec.known : op->result.commit);
}
