/* SPDX-License-Identifier: MIT */
/* The commits of a task, replayed on top of what is merged already. */
#ifndef GIT_REPLAY_H
#define GIT_REPLAY_H

#include "git/object.h"
#include "git/operations.h"

/* One commit to replay, or all of them as one. */
struct pick {
	struct commit_object commit;
	char before[GIT_ID_MAX];	/* the tree that it changes */
	char root[GIT_ID_MAX];		/* auxiliary commit of that tree */
	char side[GIT_ID_MAX];		/* auxiliary commit of its own tree, on root */
};

struct merge {
	char *old;			/* value of ref; NULL: missing */
	char *start;			/* base of the merge: the same, or the spec's base */
	char *tip;			/* new value of ref */
	char start_tree[GIT_ID_MAX], tip_tree[GIT_ID_MAX], base_tree[GIT_ID_MAX];
	char commit_tree[GIT_ID_MAX];	/* of the last commit that is replayed */
	int64_t start_time, time;	/* a replayed commit is never older than its parent */
	bool linear;			/* each of them is the only parent of the next one */
	struct pick *picks;
	size_t count;
	/* auxiliary commit of the tip's tree, on root of the pick */
	char ours[GIT_ID_MAX];
	char tree[GIT_ID_MAX];		/* of the merged pick */
};

/* ids: of the commits, NULL-terminated; if they are not linear, only the last one. 0: tip and
 * tip_tree are set; 1: conflict, and git_out() is the output of merge-tree; -1. */
int replay(struct git_op *op, struct merge *m, char *const *ids);
void replay_release(struct merge *m);

/* A commit by rld of tree, with these parents: id. */
int replay_note(struct git_op *op, const char *tree, const char *const *parents, char id[GIT_ID_MAX]);

/* conflict.c: the task's work tree moves to start, with m->tree as uncommitted changes. */
/* Both sides; git_out() must be the output of merge-tree. */
int conflict_check_out(struct git_op *op, const struct merge *m);
/* The merged tree, and result.commit is the tip. */
int merged_check_out(struct git_op *op, struct merge *m);

#endif
