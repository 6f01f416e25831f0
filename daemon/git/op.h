/* SPDX-License-Identifier: MIT */
/* Git operations as lists of steps: each step is one git process with fixed argv, started by the engine through
 * rl-shim; between steps a function reads the last output and names the next step. No operation but COMMIT touches the
 * user's index, stash or checked-out branch, or runs a filter, hook or fsmonitor of the repository. */
#ifndef GIT_OP_H
#define GIT_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/step.h"

enum git_op_kind {
	GIT_SNAPSHOT,		/* tree id of everything git does not ignore; when ref is given, it is pointed there */
	GIT_MEASURE,		/* snapshot, then the patch base_tree..tree as the last step's stdout */
	GIT_VERIFY,		/* snapshot; when it differs from tree: which paths. New files are moved into aside */
	GIT_PIN,		/* point ref at tree */
	GIT_CHECKOUT,		/* lay tree out in dir, byte for byte: no filter, no attribute, no hook */
	GIT_COMMIT,		/* commit what differs between base and tree to the checked-out branch (or detached HEAD), when the
				 * work tree still has it; clean filters and the commit's hooks run, with the rights of the step. What
				 * else the user has staged stays staged. Begun again after a death, it finds its own commit by the
				 * lines "Rld-..." of message: make them tell it from others of the run */
	GIT_OPS
};

extern const char *const git_op_names[GIT_OPS];

struct git_op;

/* All strings are copied. */
struct git_op_spec {
	enum git_op_kind kind;
	const char *workspace;	/* repository top, absolute */
	const char *scratch;	/* an existing directory of ours, absolute: the private index */
	const char *tree;	/* MEASURE: the base; VERIFY: the tree before; PIN, CHECKOUT, COMMIT: the tree */
	const char *base;	/* COMMIT: the tree to compare with */
	const char *ref;	/* PIN, SNAPSHOT */
	const char *dir;	/* absolute; CHECKOUT: emptied first, made when it is not there; VERIFY: that checkout is looked at, NULL:
				 * the workspace */
	const char *message;	/* COMMIT: with a line "Rld-Run: 42" */
	char *const *artifacts;	/* paths relative to workspace, files or folders, that are of the review and not of the work: no tree,
				 * diff or commit has them. NULL-terminated; NULL: none. One that is tracked, or a folder that has
				 * something tracked in it, is an error of SNAPSHOT */
	const char *aside;	/* VERIFY: an existing directory of ours for files that the reviewer made */
};

struct git_op *git_op_new(const struct git_op_spec *spec);
void git_op_free(struct git_op *op);

/* The result of the last step. dirfd: its attempt directory, stdout is read from its segments; -1 on the first call.
 * Does file work: called off the loop. ok=false: the process failed; stderr tells. */
enum step_next git_op_next(struct git_op *op, int dirfd, bool ok, struct step_spec *step);

const char *git_op_tree(const struct git_op *op);
const char *git_op_error(const struct git_op *op);

/* COMMIT: the new commit, also after an error that was found behind it; NULL: there was nothing to commit. */
const char *git_op_commit(const struct git_op *op);

/* VERIFY: changed or removed paths, "a.c, b.c and 3 more"; NULL: none. */
const char *git_op_changed(const struct git_op *op);
/* VERIFY: new files that were moved aside, in the same form; NULL: none. */
const char *git_op_moved(const struct git_op *op);

/* Top of the repository that holds dir, by looking for .git upwards without running git; NULL: none. malloc'd. */
char *git_top(const char *dir);

#endif
