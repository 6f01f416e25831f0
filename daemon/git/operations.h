/* SPDX-License-Identifier: MIT */
/* The operations, one file each, and their shared functions. All return 0, or -1 with
 * result.error. */
#ifndef GIT_OPERATIONS_H
#define GIT_OPERATIONS_H

#include "git/git_run.h"
#include "git/snapshot.h"

int base_run(struct git_op *op);		/* base.c */
int checkout_run(struct git_op *op);		/* room.c */
int compare_refs_run(struct git_op *op);	/* compare_refs.c */
int find_edits_run(struct git_op *op);		/* verify.c */
int commit_run(struct git_op *op);		/* commit.c: COMMIT and ADOPT_COMMITS */
int inspect_head_run(struct git_op *op);		/* inspect_head.c */
int measure_run(struct git_op *op);		/* measure.c */
int merge_run(struct git_op *op);		/* merge.c */
int pin_run(struct git_op *op);			/* pin.c */
int prepare_run(struct git_op *op);		/* prepare_place.c */
int snapshot_run(struct git_op *op);		/* pin.c */
int verify_run(struct git_op *op);		/* verify.c */
int worktree_run(struct git_op *op);		/* worktree.c */
int worktree_remove_run(struct git_op *op);	/* worktree_remove.c */
int worktree_delete_run(struct git_op *op);

/* ---- disk_tree.c: the tree of what a directory has on the disk ---- */

extern const char *const empty_trees[2];	/* in SHA-1 and in SHA-256 */
bool tree_is_empty(const char *id);

/* The tree of op->place; *tree is malloc'd, replacing the previous value. leave_out: files to leave
 * out as long as they are unchanged; NULL: none. Tries again if files change meanwhile. */
int disk_tree(struct git_op *op, const struct changes *leave_out, char **tree);

/* The same for one that is expected to be spec.tree with these entries (NULL: unknown): then it is
 * not written. */
int disk_tree_or_same(struct git_op *op, const struct changes *expected, char **tree);

/* The parts of disk_tree(). place: the directory with the files, NULL: op->place. git_dir: where
 * their objects go without an evidence repository, NULL: the git directory of place. */
/* adds what git lists in op->place */
int disk_tree_list(struct git_op *op, struct snapshot *s);
int disk_tree_add(struct git_op *op, struct snapshot *s, const struct changes *files, const char *place);
/* Hash only what has changed since the last operation on place; before the list. */
void disk_tree_use_cache(struct git_op *op, struct snapshot *s, const char *place);
int disk_tree_hash(struct git_op *op, struct snapshot *s, const char *git_dir, const char *place);
/* Hash them, and put them into the private index. */
int disk_tree_stage(struct git_op *op, struct snapshot *s, const char *git_dir, const char *place);
/* Of the private index. where: GIT_EVIDENCE, or 0: in the user's repository. */
int disk_tree_write(struct git_op *op, unsigned where, char **tree);
/* once(op, arg), and again if files have changed where only people work. */
int disk_tree_twice(struct git_op *op, int (*once)(struct git_op *op, void *arg), void *arg);

/* ---- verify.c ---- */

/* result.differing: the files of op->place that are not as in spec.judged, if there is one. known:
 * the tree of op->place; NULL: unknown. */
int verify_judged(struct git_op *op, const char *known);

/* ---- appeared.c: files that appeared while only a reviewer was at work ---- */

/* Content of the tree spec.appeared_tree, in order; empty if it is NULL. */
int appeared_read(struct git_op *op, struct changes *files);
bool appeared_has(const struct changes *files, const struct change *c);	/* unchanged */
/* Make result.appeared_tree from seen, unless files is the same. */
int appeared_keep(struct git_op *op, const struct changes *files, const struct changes *seen);

/* ---- patch.c: all that differs, as text on stdout ---- */

/* The patch between two trees or commits, after a note for each file that it leaves out, see
 * base/patch_note.h. where: GIT_EVIDENCE, or 0: in the user's repository. differs: receives the
 * paths that differ, with their modes; NULL: not wanted. Uses the private index. */
int patch_write(struct git_op *op, unsigned where, const char *from, const char *to, struct changes *differs);

/* ---- compare_refs.c ---- */

/* Of the spec: result.moved says which are not as rld set them. */
int compare_refs(struct git_op *op);
/* Add a ref to result.moved. now: what it has; NULL: it is gone. */
void compare_refs_tell(struct git_op *op, const char *name, const char *id, const char *now);

/* ---- modified_basis.c ---- */

int modified_basis_find(struct git_op *op);

/* ---- touched.c ---- */

/* Of the paths that differ since the base: result.protected, result.judging, result.modules. */
void touched_find(struct git_op *op, const struct changes *differs);

/* ---- reattach_head.c: a task's work tree that an agent has turned away ---- */

/* Why nothing may be done in the work tree, malloc'd; NULL: it belongs to the repository. */
char *reattach_trouble(const struct git_op *op);
int reattach_head(struct git_op *op);
/* Whether a conflict has moved the work to another base commit. */
bool reattach_was_in_conflict(const struct git_op *op);
/* Files of tree with conflict markers: result.conflicts. */
int conflict_marks(struct git_op *op, const char *tree);

/* Names of the two sides in conflict markers. */
#define MERGE_INTEGRATED "integrated"
#define MERGE_TASK "task"

/* ---- commit_tree.c ---- */

struct saved {
	/* "": not a commit; none */
	char id[GIT_ID_MAX], tree[GIT_ID_MAX], parent[GIT_ID_MAX];
};

/* What spec.ref has; *there false: nothing. */
int commit_tree_saved(struct git_op *op, struct saved *saved, bool *there);
/* result.commit: tree on top of parent (NULL: none), under spec.ref. keep: what the ref has becomes
 * a second parent. */
int commit_tree(struct git_op *op, const char *tree, const char *parent, bool keep);

/* ---- reserve_branch.c ---- */

struct branch {
	char *tip;		/* owned; NULL: missing */
	int tries, locked;
	bool suffixed, blocked;
};

/* the name that an earlier start used for the work tree dir */
void branch_recall(struct git_op *op);
/* result.branch is ours and at start, or to be created there: then branch->tip is NULL. taken: dir
 * contains a complete work tree. */
int branch_claim(struct git_op *op, struct branch *branch, const char *start, bool taken);
/* Creating the branch has failed: 0, another git interfered, claim it again. */
int branch_try_again(struct git_op *op, struct branch *branch);
int branch_reserve(struct git_op *op, const char *commit);	/* BASE: claim and create */
/* Whether only we have claimed result.branch. -1; 0, 1 */
int branch_is_ours(struct git_op *op);
int branch_forget(struct git_op *op);

/* ---- worktree.c ---- */

#define WORKTREE_COMMIT "refs/worktree/rl/commit"
#define WORKTREE_TREE "refs/worktree/rl/tree"

void worktree_made(const struct git_op *op);	/* it is on the disk, or gone */

/* ---- lay_work.c ---- */

/* In dir, which has result.tree: spec.tree instead, and result.laid. Neither, if there is no such
 * tree any more. */
int lay_work(struct git_op *op);

/* ---- adopt_commits.c: what an agent has committed ---- */

/* Commits in the order in which they were made. */
struct series {
	char **ids;		/* owned; NULL: none */
	bool linear;		/* each is the only parent of the next one */
	bool descends;		/* they descend from the commit they are counted from */
};

/* The commits of tip that are not in since (NULL: all). */
int series_read(struct git_op *op, const char *tip, const char *since, struct series *series);

/* ---- commit_hooks.c: the hooks of a commit, on the private index ---- */

/* On tree planned. 0: all agreed; 1: result.refused; -1. */
int commit_hooks_run(struct git_op *op, const char *planned);
char *commit_hooks_message_file(const struct git_op *op);
int commit_hooks_after(struct git_op *op);
/* result.refused: files changed by a hook. */
void commit_hooks_changed(struct git_op *op, struct names *names);
/* A note for a repeated operation: hooks have run, and may have reformatted files. */
int commit_hooks_note(const struct git_op *op);
bool commit_hooks_noted(const struct git_op *op);
void commit_hooks_forget(const struct git_op *op);

/* ---- stage_work.c: the private index gets HEAD with what is wanted as it is in the tree that was
 * measured or reviewed ---- */

/* 0: something is staged; 1: no difference from tip (NULL: none); -1. */
int stage_work(struct git_op *op, const char *tip, const struct changes *wanted);

#endif
