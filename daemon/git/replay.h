/* SPDX-License-Identifier: MIT */
/* The commits of a task, and what comes of them on top of what is integrated already. */
#ifndef GIT_REPLAY_H
#define GIT_REPLAY_H

#include "git/object.h"
#include "git/operations.h"

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
	char start_tree[GIT_ID_MAX], tip_tree[GIT_ID_MAX], base_tree[GIT_ID_MAX];
	int64_t start_time, time;	/* no replayed commit is older than its parent */
	bool linear;			/* each of them is the next one's only parent */
	struct pick *picks;
	size_t count;
	char ours[GIT_ID_MAX];		/* a commit of ours: the tree of tip, on root of the pick */
	char tree[GIT_ID_MAX];		/* of the pick that was merged */
};

/* ids: of the commits, NULL-terminated; where they are no line, of the last one alone. 0: tip and
 * tip_tree are as they are to be; 1: in conflict, and git_out() is what merge-tree said; -1. */
int replay(struct git_op *op, struct merge *m, char *const *ids);
void replay_release(struct merge *m);

/* A commit by rld of tree, with these parents: id. */
int replay_note(struct git_op *op, const char *tree, const char *const *parents, char id[GIT_ID_MAX]);

/* conflict.c: the work tree of the task gets both sides. Output of merge-tree is what git_out()
 * has. */
int conflict_check_out(struct git_op *op, const struct merge *m);

#endif
