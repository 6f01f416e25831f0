/* SPDX-License-Identifier: MIT */
/* MERGE from inside: the commits of a task, and what comes of them on top of what is integrated already. */
#ifndef GIT_MERGE_H
#define GIT_MERGE_H

#include "git/object.h"
#include "git/op_int.h"

/* How the two sides are called between conflict markers. */
#define MERGE_INTEGRATED "integrated"
#define MERGE_TASK "task"

/* One commit to be replayed, or all of them as one. */
struct pick {
	struct commit_object commit;
	char before[GIT_ID_MAX];	/* the tree that it changes */
	char root[GIT_ID_MAX];		/* a commit of ours: that tree */
	char side[GIT_ID_MAX];		/* a commit of ours: its own tree, on root */
};

struct merge {
	char *old;			/* what ref has; NULL: it is not there */
	char *start;			/* what is merged into: the same, or the base */
	char *tip;			/* what ref is to have */
	char *note;			/* a commit that says so; NULL: none is needed */
	char start_tree[GIT_ID_MAX], tip_tree[GIT_ID_MAX], base_tree[GIT_ID_MAX];
	int64_t start_time, time;	/* no replayed commit is older than its parent */
	bool linear;			/* each of them is the next one's only parent */
	struct pick *picks;
	size_t count, at;
	char ours[GIT_ID_MAX];		/* a commit of ours: the tree of tip, on root of the pick */
	char tree[GIT_ID_MAX];		/* of the pick that was merged */
	size_t files, most;		/* new objects as files in scratch: now, ever */
	int tries;
	bool kept;			/* keep_ref has the commit already */
};

/* replay.c. A new object for the next hash-object; false: failed. */
bool replay_object(struct git_op *op, const char *tree, const char *const *parents, const struct commit_object *like, int64_t committed);
void replay_release(struct git_op *op);

/* merge.c: tip and its tree are as they are to be. */
enum stage merge_finish(struct git_op *op);

/* conflict.c: the output of merge-tree, which could not do it. */
enum stage conflict_start(struct git_op *op, const char *data, size_t size);

#endif
