/* SPDX-License-Identifier: MIT */
/* An operation from inside: its state, and the functions that say what a finished process leads to. */
#ifndef GIT_OP_INT_H
#define GIT_OP_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "git/change.h"
#include "git/command.h"
#include "git/op.h"
#include "git/snapshot.h"
#include "proto/memory.h"

/*   [JUDGES ─▶] SNAPSHOT or BASE, as below, when files that judge are to be compared with HEAD
 *   LIST ─▶ HEAD ⇄ INSIDE ─▶ HASH ─▶ INDEX ─▶ TREE ─┬─▶ SNAPSHOT: [PIN] ─▶ done
 *    ▲  (nested repositories)    │                  ├─▶ MEASURE: [MARKS ─▶] [HOOKS ─▶ CHANGES to AGREED, as below ─▶ LIST] ─▶ PATCH ─▶ done
 *    └── once, when files moved ─┘                  └─▶ VERIFY: done when equal, else COMPARE ─▶ [BESIDE_INDEX ─▶ BESIDE_TREE ─▶ [BESIDE_PIN ─▶]] done
 *   BESIDE ─▶ LIST, as above: files of before that are no work are known
 *   HASH ─▶ OTHERS ─▶ INDEX, as above, and ADD ─▶ ADD_OTHERS ─▶ STAGED, as below: when others write there, too
 *   LIST ─▶ IN_HEAD ─▶ as above, when an agent has added an artifact: failed, when it is committed
 *   PIN ─▶ [PIN_NAMED] ─▶ done
 *   LOOK_TIP ─▶ [LOOK_HISTORY ─▶] done                   (LOOK)
 *   ENTRIES ─▶ BLOBS ─▶ done                             (CHECKOUT)
 *   ENTRIES ─▶ HEAD or HASH to COMPARE, as above ─▶ [LIST to BESIDE_TREE, as above, of the workspace that is not the task's alone]   (VERIFY of a checkout)
 *   COMMIT: CHANGES ─▶ TIP ─▶ TIP_TEXT ─▶ (HEAD ─▶) HASH ─▶ READ ─▶ REMOVE ─▶ ADD ─▶ STAGED ─▶ IDENT ─▶ PLANNED
 *           └ none: done └ unborn: ──▶ ┘      not as reviewed: failed ┘              │                    ▼
 *      refused ◀─ HOOK_BEFORE ─▶ HOOK_PREPARE ─▶ HOOK_MESSAGE ─▶ AGREED ─▶ COMMIT    │               HOOK_BEFORE
 *      refused ◀──────── MEDDLED ◀───── a hook changed something ──┘         ▼       │
 *                     done ◀─ HOOK_AFTER ◀─ OWN_INDEX ◀─ CHECK ◀────────── MADE      │
 *                                                          └─◀─ nothing: done, or TIP is ours
 *   TIP_TEXT ─▶ HISTORY ─▶ TOUCHED ─▶ AHEAD ─▶ (HEAD ─▶) HASH, as above       (an agent has committed)
 *   COMMITTED: TIP ─▶ TIP_TEXT ─▶ HISTORY ─▶ TOUCHED ─▶ LIST to TREE, as above ─▶ CHANGES ─▶ AHEAD, as above
 *                                                                   not as reviewed: └─▶ DRIFT ─▶ failed
 *   [ATTACH_LOOK ─▶ ATTACH_MOVE ─▶ ATTACH ─▶] [MARKS ─▶] COMMIT or COMMITTED, as above   (in a task's work tree) */
/*   BASE: PLACE ─▶ BASE_TIP ─┬▶ NAMED ─▶ MERGE_BASE ─────────────────────▶ BASE_TREE ─▶ POINT
 *                            └▶ LIST, as above ─▶ BASE_REMOVE ─▶ BASE_ADD ─▶ TREE ─▶ BASE_TREE ─▶ POINT, or when it differs:
 *   KEPT ─┬▶ WHO ─▶ COMMIT_TREE ─▶ POINT ─▶ [BRANCH ... RESERVE ─▶] done     (a tree becomes a commit under a ref)
 *         └─ has it: done
 *   BRANCH ─▶ [CLAIMS ─▶ [UNCLAIM ─▶ BRANCH, of another name]] ─▶ CLAIM ─▶ RESERVE or WORKTREE; failed: ─▶ BRANCH     (a branch of the run)
 *   WORKTREE: PLACE ─▶ SUBMODULES ─▶ BRANCH ... WORKTREE ─▶ LIST to TREE, as above ─▶ WORKTREE_HEAD ─▶ NOTE ─▶ done
 *   CLEAR: PLACE ─▶ CLEAR_HEAD ─┬──────────────────────────▶ ALL ─┬─▶ HASH, INDEX, HELD, TREE ─▶ CLEAR_DIFF ─┬─▶ LOOSE ─▶ LEFT ─▶ [CLAIMS ─▶] DELETE ─▶ [FORGET]
 *            │                  └▶ CLEAR_BRANCH ─▶ CLEAR_READ ─▶ ALL_OURS   │                     └─▶ NOTED ─▶ SINCE_TREE ─▶ SINCE_COMMIT
 *            └ not there: CLEAR_KEPT ─▶ LEFT                                └ something would be lost: KEPT, as above, ─▶ LEFT
 *   MERGE: PLACE ─▶ MERGE_TIP ─▶ MERGE_NOTED ─▶ MERGE_HELD ─▶ MERGE_LIST ─▶ MERGE_READ ─▶ MERGE_ROOTS ─▶ MERGE_SIDES ─▶ MERGE_PICK
 *                    ▲  └ at the base: ─────────────────────▶ ┘  └ at the base: ─▶ MERGE_TAKEN     ▲     for each:  ▼
 *                    └─◀─ ref was moved ─ MERGE_MOVE ◀─ MERGE_TAKEN ◀─ MERGE_NOTE ◀─ none is left ────────── MERGE_PICKED
 *          done: [MERGE_WHOLE]; somebody has removed ref: MERGE_TIP ─▶ MERGE_BACK ─▶ MERGE_TIP
 *          in conflict: all as one ─▶ MERGE_ROOTS, and once more ─▶ DIR_KEPT ─▶ DIR_HEAD ─▶ DIR_KEEP ─▶ DIR_RESET ─▶ LIST to TREE,
 *          as above ─▶ DIR_LAY ─▶ DIR_BACK ─▶ LIST to TREE ─▶ done                └ begun again: DIR_BEHIND ─▶ DIR_FORGET ─▶ ┘ */
enum stage {
	STAGE_NONE, STAGE_JUDGES, STAGE_BESIDE, STAGE_LIST, STAGE_IN_HEAD, STAGE_HEAD, STAGE_INSIDE, STAGE_HASH, STAGE_OTHERS, STAGE_INDEX, STAGE_TREE, STAGE_HOOKS, STAGE_PATCH, STAGE_COMPARE, STAGE_BESIDE_INDEX, STAGE_BESIDE_TREE, STAGE_BESIDE_PIN, STAGE_PIN, STAGE_PIN_NAMED,
	STAGE_ENTRIES, STAGE_BLOBS, STAGE_CHANGES, STAGE_TIP, STAGE_TIP_TEXT, STAGE_READ, STAGE_REMOVE, STAGE_ADD, STAGE_ADD_OTHERS, STAGE_STAGED,
	STAGE_IDENT, STAGE_COMMIT, STAGE_MADE, STAGE_CHECK, STAGE_OWN_INDEX,
	STAGE_PLANNED, STAGE_HOOK_BEFORE, STAGE_HOOK_PREPARE, STAGE_HOOK_MESSAGE, STAGE_AGREED, STAGE_MEDDLED, STAGE_HOOK_AFTER,
	STAGE_HISTORY, STAGE_TOUCHED, STAGE_AHEAD, STAGE_DRIFT, STAGE_ATTACH_LOOK, STAGE_ATTACH_MOVE, STAGE_ATTACH, STAGE_MARKS,
	STAGE_PLACE, STAGE_KEPT, STAGE_WHO, STAGE_COMMIT_TREE, STAGE_POINT,
	STAGE_BASE_TIP, STAGE_NAMED, STAGE_MERGE_BASE, STAGE_BASE_TREE, STAGE_BASE_REMOVE, STAGE_BASE_ADD,
	STAGE_SUBMODULES, STAGE_BRANCH, STAGE_CLAIMS, STAGE_CLAIM, STAGE_UNCLAIM, STAGE_RESERVE, STAGE_FORGET, STAGE_WORKTREE, STAGE_WORKTREE_HEAD, STAGE_NOTE,
	STAGE_CLEAR_HEAD, STAGE_CLEAR_BRANCH, STAGE_CLEAR_READ, STAGE_ALL, STAGE_ALL_OURS, STAGE_HELD, STAGE_CLEAR_DIFF, STAGE_NOTED, STAGE_SINCE_TREE,
	STAGE_SINCE_COMMIT, STAGE_LOOSE, STAGE_CLEAR_KEPT, STAGE_LEFT, STAGE_DELETE,
	STAGE_MERGE_TIP, STAGE_MERGE_BACK, STAGE_MERGE_NOTED, STAGE_MERGE_HELD, STAGE_MERGE_LIST, STAGE_MERGE_READ, STAGE_MERGE_ROOTS, STAGE_MERGE_SIDES,
	STAGE_MERGE_PICK, STAGE_MERGE_PICKED, STAGE_MERGE_NOTE, STAGE_MERGE_TAKEN, STAGE_MERGE_MOVE, STAGE_MERGE_WHOLE,
	STAGE_LOOK_TIP, STAGE_LOOK_HISTORY, STAGE_LOOK_TREE,
	STAGE_DIR_KEPT, STAGE_DIR_HEAD, STAGE_DIR_KEEP, STAGE_DIR_BEHIND, STAGE_DIR_FORGET, STAGE_DIR_RESET, STAGE_DIR_LAY, STAGE_DIR_BACK,
	STAGES
};

/* A list of names for people: "a.c, b.c, d.c and 3 more". */
struct names {
	struct buf text;
	size_t count;
	size_t shown;		/* at most so many; 0: three */
};

/* One line of a tree. */
struct tree_entry {
	char *path;		/* owned */
	unsigned mode;
	char id[GIT_ID_MAX];
};

struct git_op {
	enum git_op_kind kind;
	char *workspace, *repository, *scratch, *given, *base, *ref, *dir, *message, *index;	/* given: the tree of the spec */
	char *name, *branch, *given_commit, *base_commit, *keep_ref, *note_ref, *known;	/* given_commit: that of the spec */
	char **artifacts, **others, **judges;
	char *others_tree;
	enum stage stage;		/* whose result comes next */
	int dirfd;			/* of that result, borrowed */
	const char *place;		/* where processes run and whose files become a tree: workspace or dir */
	char *git_dir;			/* named outright, with place as the work tree; NULL: the one that git finds in place */
	char **words;			/* the last ones of the next process, set by who names its stage; NULL: none */
	struct snapshot *snapshot;
	char *inside;			/* nested repository that HEAD or INSIDE is about */
	bool again;			/* the work tree moved once already */
	struct git_command command;
	struct buf input;
	char *tree, *error;
	int fault;			/* of the host, the errno: it is why error is there */
	struct names changed, appeared, unlike;
	/* files that appeared while only others were at work there */
	char *beside;			/* a tree of them alone, NULL: there are none */
	struct changes unwanted;	/* what it has ... */
	bool knows;			/* ... which has been read */
	struct changes seen;		/* VERIFY: those that are there now */
	bool in_workspace;		/* VERIFY of a checkout: the workspace is looked at, behind it */
	/* CHECKOUT */
	struct tree_entry *entries;
	size_t nentries;
	/* COMMIT */
	struct changes wanted, made;	/* what is to be committed; what the commit has */
	struct changes led;		/* what commits of the agent's own have touched: paths only */
	struct changes undone;		/* ... of these what is wanted, though the work has not changed it: as the tree has it; a shared tree only */
	bool looking;			/* the snapshot is of what is wanted */
	char *planned;			/* the tree that the commit is to have */
	char *rehearsed;		/* MEASURE: the tree that the hooks were asked about last */
	int rehearsals;
	char *tip;			/* HEAD, NULL: no commit yet */
	char *head_at;			/* see git_op_head_at() */
	bool tip_ours;			/* HEAD is a commit that an earlier begin of this operation made */
	bool anonymous;			/* the user has no name that git would take */
	char *commit;
	char *refused;
	bool branch_left;		/* CLEAR: the branch has commits of its own, and stays */
	bool resolved;			/* what a conflict has left there has been worked on: no marker may be left */
	/* BASE, WORKTREE, CLEAR */
	char *common;			/* what all work trees of the repository share */
	bool bare;
	char *also;			/* a second commit that something is about */
	bool noted;			/* WORKTREE: it was complete before */
	bool astray;			/* CLEAR: what git knows of dir is of no use */
	bool shared;			/* of the spec */
	char **ahead;			/* LOOK, COMMIT, COMMITTED: what HEAD has beyond given_commit, NULL: nothing */
	bool rewritten;			/* LOOK, COMMIT: it does not come after that */
	/* reserve.c */
	char *instance;
	char *branch_tip;		/* of branch, NULL: it is not there */
	bool branch_blocked;		/* ... and cannot be, for others are below its name */
	bool suffixed;			/* branch has the instance behind its name */
	int tries, locked;		/* how often it could not be created, and not be claimed */
	/* MERGE */
	struct merge *merge;		/* owned */
	struct names conflicts;
	char *taken;			/* who else has ref checked out */
	char *tip_tree;
	char *text;			/* the spec, as rl-git reads it */
	size_t text_size;
};

/* What a finished process leads to; STAGE_NONE: done, or failed when op->error is set. data: its stdout. */
typedef enum stage result_fn(struct git_op *op, bool ok, const char *data, size_t size);

#define STAGE_WORDS 10

enum {
	INDEX = 1,		/* on the private index */
	READ = 2,		/* its stdout is wanted */
	MAY_FAIL = 4,		/* that it failed is an answer */
	AGAIN = 8,		/* it fails when a file vanishes: look once more */
	INSIDE = 16,		/* in the nested repository */
	HOOKED = 32,		/* the repository's hooks run */
	FILTERED = 64,		/* its filters may run: nothing that could ask somebody gets to */
	ALONE = 128,		/* no configuration but that of the git directory that is named */
	FILES = 256,		/* of the files that are there: core.worktree may point elsewhere, and an agent may set it */
};

enum arg { ARG_NONE, ARG_GIVEN, ARG_BASE, ARG_TREE, ARG_REF, ARG_TIP, ARG_COMMIT, ARG_ARTIFACT, ARG_OTHERS, ARG_BESIDE };

struct stage_spec {
	const char *name;
	const char *words[STAGE_WORDS];
	enum arg args[2];	/* behind the words; op->words come behind those */
	unsigned flags;
	int64_t keep;
	result_fn *done;
};

/* stage.c */
extern const struct stage_spec stages[STAGES];
void stage_prepare(struct git_op *op, struct step_spec *step);	/* of op->stage */

/* Commits in the order in which they were made. */
struct series {
	char **ids;		/* owned; NULL: none */
	bool linear;		/* each is the next one's only parent */
	bool descends;		/* the commit that they are counted from is behind one of them */
};

/* Whoever reads of a task's own work tree finds it gone. */
#define OP_KEPT "that work tree goes with its task, and what it has is kept: see its branch and `rlctl salvage list`, then retry the run"

/* judges.c */
enum stage judges_start(struct git_op *op);
result_fn judges_done;

/* op.c */
enum stage op_begin(struct git_op *op);		/* the first stage of its kind */
result_fn pin_done, pin_named_done;
char *op_said(const struct git_op *op);			/* what the process said on stderr, in one line */
enum stage op_process_failed(struct git_op *op);		/* that becomes the error */
enum stage op_fail(struct git_op *op, char *error);	/* takes error */
const char *op_remedy(const struct git_op *op, const char *there);	/* what to do in the work tree, or when it is a task's own: OP_KEPT */
void op_fresh_index(struct git_op *op);			/* nothing is left of the private index */
void names_add(struct names *names, const char *path);
void names_end(struct names *names);

/* tree.c: from the files to a tree */
extern const char *const empty_trees[2];			/* in SHA-1 and in SHA-256 */
bool tree_is_empty(const char *id);
enum stage tree_start(struct git_op *op);
enum stage tree_start_again(struct git_op *op, char *error);	/* something moved; takes error */
enum stage tree_files(struct git_op *op);			/* nested repositories, then hash what op->snapshot has */
result_fn list_done, in_head_done, head_done, inside_done, hash_done, others_done, index_done, tree_done;

/* beside.c */
bool beside_has(const struct git_op *op, const char *path, unsigned mode, const char *id);	/* as it is */
enum stage beside_keep(struct git_op *op);	/* what is seen now */
result_fn beside_done, beside_index_done, beside_tree_done, beside_pin_done;

/* rehearse.c */
enum stage rehearse(struct git_op *op);			/* op->tree is known */
enum stage rehearse_marked(struct git_op *op);		/* its marks of a conflict are */
enum stage rehearse_begin(struct git_op *op);
enum stage rehearse_over(struct git_op *op);
result_fn rehearse_hooks_done;

/* verify.c */
enum stage verify_tree(struct git_op *op);
enum stage verify_checkout(struct git_op *op);
result_fn compare_done;

/* checkout.c */
result_fn entries_done, blobs_done;
void checkout_release(struct git_op *op);

/* commit.c */
enum stage commit_look(struct git_op *op);
enum stage commit_hashed(struct git_op *op);
result_fn changes_done, tip_done, tip_text_done, read_done, remove_done, add_done, add_others_done, staged_done, ident_done, commit_done, made_done,
    check_done, own_index_done;

/* hook.c */
bool hook_noted(const struct git_op *op);		/* hooks have run in an earlier begin of this operation, or said no */
void hook_over(const struct git_op *op);		/* forget that */
enum stage hook_changed(struct git_op *op, const struct names *names);
result_fn planned_done, hook_before_done, hook_prepare_done, hook_message_done, agreed_done, meddled_done;

/* committed.c */
void series_read(struct series *series, const char *data, size_t size, const char *since);	/* of rev-list --parents ^since */
enum stage committed_tip(struct git_op *op);		/* HEAD is known */
enum stage committed_known(struct git_op *op);		/* what the agent has committed, too */
enum stage committed_tree(struct git_op *op);
bool committed_drop(struct git_op *op, const struct buf *have);	/* what of undone the files are not: true when there was any */
result_fn history_done, touched_done, ahead_done, drift_done;

/* look.c */
result_fn look_tip_done, look_history_done, look_tree_done;

/* attach.c */
char *attach_trouble(const struct git_op *op);		/* why nothing may be done in the work tree; NULL: it is the repository's */
enum stage attach_start(struct git_op *op);
bool attach_was_in_conflict(const struct git_op *op);	/* the work stands on another commit than the work tree was made at */
enum stage attach_marks(struct git_op *op);
result_fn attach_look_done, attach_move_done, attach_done, marks_done;

/* place.c */
result_fn place_done;

/* keep.c */
struct kept {
	char id[GIT_ID_MAX], tree[GIT_ID_MAX], parent[GIT_ID_MAX];	/* "": it is no commit; it has none */
};

enum stage keep_start(struct git_op *op);		/* op->tree on top of op->tip, under op->ref; then keep_end() */
enum stage keep_end(struct git_op *op);
bool kept_read(const struct git_op *op, const char *data, struct kept *kept);
result_fn kept_done, who_done, commit_tree_done, point_done;

/* reserve.c: op->branch, when it is the run's to make */
enum stage reserve_start(struct git_op *op);		/* BASE: it exists at op->commit when all is done; WORKTREE: then worktree_named() */
void reserve_recall(struct git_op *op);			/* by which name an earlier begin has made the work tree dir */
enum stage reserve_again(struct git_op *op);		/* its process failed: look once more, when another git was in the way */
enum stage reserve_forget(struct git_op *op);		/* the branch is gone, and its configuration with it */
result_fn branch_done, claims_done, unclaim_done, claim_done, reserve_done;

/* base.c */
bool base_is_merged(const char *data, size_t size);
enum stage base_files(struct git_op *op);
enum stage base_written(struct git_op *op);
result_fn base_tip_done, named_done, merge_base_done, base_tree_done, base_remove_done, base_add_done;

/* worktree.c */
#define WORKTREE_COMMIT "refs/worktree/rl/commit"
#define WORKTREE_TREE "refs/worktree/rl/tree"

enum stage worktree_start(struct git_op *op);
enum stage worktree_named(struct git_op *op, const char *tip);	/* the branch is known: its tip, NULL: it is not there */
bool worktree_has(const struct git_op *op);		/* dir has a work tree that is complete */
void worktree_made(const struct git_op *op);		/* it is on the disk, or gone */
result_fn submodules_done, worktree_done, worktree_head_done;

/* clear.c */
enum stage clear_start(struct git_op *op);
enum stage clear_written(struct git_op *op);
enum stage clear_saved(struct git_op *op);
enum stage clear_branch(struct git_op *op);		/* it has no commit of its own, and is ours */
result_fn clear_head_done, clear_branch_done, clear_read_done, all_done, held_done, clear_diff_done, noted_done, since_tree_done, since_commit_done,
    loose_done, clear_kept_done, left_done, delete_done;

/* merge.c */
enum stage merge_start(struct git_op *op);
void merge_release(struct git_op *op);
result_fn merge_tip_done, merge_back_done, merge_noted_done, merge_held_done, merge_list_done, merge_note_done, merge_taken_done, merge_move_done;

/* replay.c */
result_fn merge_read_done, merge_roots_done, merge_sides_done, merge_pick_done, merge_picked_done;

/* conflict.c */
enum stage conflict_written(struct git_op *op);
result_fn dir_kept_done, dir_head_done, dir_keep_done, dir_behind_done, dir_reset_done, dir_lay_done, dir_back_done;

#endif
