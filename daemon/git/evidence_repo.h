/* SPDX-License-Identifier: MIT */
/* The evidence repository: a bare repository in the state directory, one per repository of users,
 * in which products are made and read. Only rld writes to it. It takes no setting of the user's
 * repository, of the user or of the system, and no filter; gc never runs there.
 *
 *	refs/base/<commit>       base commits, with their recent history and tags
 *	info/exclude, rld/       copies made at submit (submit_copy.c), and caches
 *
 * Calls with GIT_EVIDENCE run there. op->objects is its path, NULL: the operation has none, and
 * such calls run in the user's repository. Without one, these functions do nothing and return 0.
 * Else they return 0, or -1 with result.error. */
#ifndef GIT_EVIDENCE_REPO_H
#define GIT_EVIDENCE_REPO_H

#include "git/git_run.h"

/* Create it, if it is missing. result.commit: the user's, NULL: there is none yet. */
int evidence_open(struct git_op *op);

/* Bring commit, with history and tags, from the user's repository; its objects are hashed again. */
int evidence_fetch(struct git_op *op, const char *commit);

/* Bring these objects of the user's repository, an id per line; theirs are hashed again. */
int evidence_take(struct git_op *op, const struct buf *ids);

/* The user's repository gets tree: what it lacks is copied. What it has already, and known (a tree
 * or commit that both have, NULL: none) has not, is read there and hashed again. */
int evidence_give(struct git_op *op, const char *tree, const char *known);

/* A place for many new objects, for calls with GIT_STAGED, which are not synced one by one; then
 * those of ids, one per line, come into the repository as one pack. Without a place, they are there
 * already: *staged is false. evidence_stage_end() also ends a failure before it. */
int evidence_stage_begin(struct git_op *op, bool *staged);
int evidence_stage_end(struct git_op *op, const char *ids, size_t size);

/* The path of a file of ours in it, malloc'd. */
char *evidence_file(const struct git_op *op, const char *name);

#endif
