/* SPDX-License-Identifier: MIT */
/* Git operations: what the engine asks for, and the result. The engine writes an operation down,
 * rl-git reads it, runs it with git and writes the result, which the engine reads.
 *
 * Of all operations, only COMMIT and ADOPT_COMMITS touch the index, stash or checked-out branch of
 * workspace. They, and MEASURE with a message, run hooks and the filters that a commit needs. BASE,
 * WORKTREE_ADD and MERGE, the last two in their own work tree, run the repository's filters; no
 * other operation does. None runs a fsmonitor, merge driver, diff or text conversion program. */
#ifndef GIT_GIT_OP_H
#define GIT_GIT_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/redact.h"

enum git_op_kind {
	/* The tree of everything that git does not ignore. ref, if given, is pointed there. With
	 * name: the commit that it is. */
	GIT_SNAPSHOT,

	/* A snapshot, then the patch from tree to it on stdout. With repository: reports conflict
	 * markers that are left. With message: runs the hooks that a commit of the tree would run,
	 * and commits nothing; files that a hook reformats are measured in the new format. */
	GIT_MEASURE,

	/* A snapshot, compared with tree: which paths are changed or gone, and which are new.
	 * Nothing is moved. New files are not part of the work: they become appeared_tree. So do
	 * changed and removed ones of a workspace beside the checkout that is compared. */
	GIT_VERIFY,

	/* Point ref at tree, unless git_op_moved(). With name: the commit that it is. */
	GIT_PIN,

	/* Unpack tree into dir, byte for byte: no filter, attribute or hook. */
	GIT_CHECKOUT,

	/* Copy files that git ignores in the user's directory (repository, else workspace) and that
	 * match copy into dir, a new work tree or room, with their modes. Then restore what differs
	 * there from tree (NULL: as WORKTREE_ADD has noted it); git_op_changed() names those paths,
	 * and new files stay. */
	GIT_PREPARE,

	/* Commit what differs between base and tree to the checked-out branch (or detached HEAD),
	 * whatever the work tree has by now. Clean filters, as they were at submit, and the
	 * commit's hooks run, with the rights of the step. Other changes that the user has staged
	 * stay staged. Repeated after a crash, it finds its own commit by the lines "Rld-..." of
	 * message, which must be unique within the run. With commit, where HEAD was: an agent may
	 * have committed on top of it; the last commit and the rest together have what of tree was
	 * touched, no commit since then has an artifact, and if nothing is left to be committed,
	 * the result is HEAD. */
	GIT_COMMIT,

	/* The commit that work starts from, and its tree; ref is pointed there. With name: the
	 * merge base of HEAD and name, without uncommitted work. Otherwise HEAD; if the work tree
	 * has anything more that git does not ignore, a commit of that on top. Clean filters run;
	 * index, branch and stash stay as they are. Of a nested repository it has the commit, not
	 * uncommitted work. An unborn HEAD gives a commit without a parent, a bare repository gives
	 * HEAD. Refused while there are unresolved conflicts. */
	GIT_BASE,

	/* A work tree in dir, on branch (short name), which is created at commit, or exists if
	 * commit is NULL. Locked, so that it is not pruned. Gives the tree as the disk has it, and
	 * the commit. Smudge filters run. What an interrupted try has left is removed first; a
	 * complete work tree is taken as it is, with later work. With tree: then dir gets that
	 * content, byte for byte, if git_op_laid(). Refused with the remedy:
	 * submodules that are checked out in workspace, a branch of that name that is elsewhere, a
	 * dir with files that are not ours. */
	GIT_WORKTREE_ADD,

	/* An agent has committed in workspace: are its commits linear, on top of commit (the base)
	 * and without artifacts, and is the work tree still tree? What it left out is committed as
	 * by COMMIT. Gives the last commit. commit NULL: unknown, only HEAD is searched for
	 * artifacts. */
	GIT_ADOPT_COMMITS,

	/* Replay the commits base_commit..commit on top of what ref has (created at base_commit if
	 * missing): linear, authors and messages kept, no hook. Commits that no longer change
	 * anything are left out. If they are not linear, or merge only as a whole, they become one
	 * commit with message. Gives the new tip and its tree; ref is moved there, and a note of
	 * that stays under note_ref. On a conflict ref does not move, but the branch that dir has
	 * checked out is set to that tip (its old tip stays in keep_ref), and dir to the merged
	 * files with conflict markers. Then git_op_conflicts() is not NULL, commit is the tip,
	 * git_op_base() is the tip's tree as the disk had it, and tree is what is in dir now. With
	 * holds_back and a new tree, the same without markers, and git_op_held_back(): head is the
	 * tip, and commit what ref is to be moved to when that tree has been judged, by a MERGE of
	 * commit from head; then the branch of dir is at commit, too. With onto, the commits are
	 * replayed on that one, which is not in ref yet, and held back in any case. If they do not
	 * fit, or change nothing there, nothing is done, and git_op_put_off(). With stands, commit
	 * stands on one that was held back, and so on down to ref: ref is moved up to commit. */
	GIT_MERGE,

	/* Save everything in the work tree dir that its HEAD does not have, untracked and ignored
	 * files included, byte for byte without filters, or a HEAD that is on no branch, as a
	 * commit under ref, with HEAD (else branch, else commit) as its parent. Then remove dir and
	 * its administrative files, and branch if it is still at commit (NULL: it stays) and not
	 * checked out. Gives the saved commit, NULL: there was nothing to save. A broken .git,
	 * index or administrative file does not stop it. Without a dir there is nothing to do. What
	 * cannot be saved (a nested repository, a name that git does not take) is an error, and dir
	 * stays. Repeated with ref there, the earlier save becomes a second parent. Not saved:
	 * content of the index only, empty directories, pipes and sockets, artifacts. During the
	 * removal, dir is called dir.cleared; of a large one that is left, and git_op_rest(). */
	GIT_WORKTREE_REMOVE,

	/* Remove dir.cleared. Nothing of the repository is looked at. */
	GIT_WORKTREE_DELETE,

	/* HEAD of workspace, if it is no longer at commit, how it came there, and whether it has
	 * all of the work, from base to tree. commit NULL: there was none. */
	GIT_INSPECT_HEAD,

	/* Whether refs still are as rld set them. */
	GIT_COMPARE_REFS,

	/* What people have changed in workspace since it had tree: what VERIFY says of it beside a
	 * checkout. Changes nothing. */
	GIT_FIND_EDITS,

	GIT_OPS
};

extern const char *const git_op_names[GIT_OPS];

struct git_op;

/* All strings are copied. Paths of a work tree are relative to workspace. */
struct git_op_spec {
	enum git_op_kind kind;

	/* Top of the repository, absolute. */
	const char *workspace;

	/* Its top, absolute, if workspace is a work tree that WORKTREE_ADD has made there on
	 * branch: only that work tree is touched, and COMMIT and ADOPT_COMMITS bring a HEAD that is
	 * elsewhere back to branch. NULL: it is none. */
	const char *repository;

	/* An existing directory of ours, absolute, for the private index. */
	const char *scratch;

	/* The evidence repository, absolute: trees are made and read there, and what others look
	 * for in the user's repository is copied to it. NULL: all of it is in the user's
	 * repository, as for runs of earlier versions. */
	const char *evidence;

	/* SNAPSHOT, BASE: an agent may have changed the user's settings, so the copies made before
	 * stay. */
	bool settings_kept;

	/* CHECKOUT: git_op_ignored() and git_op_manifests() are asked for. */
	bool explains;

	/* CHECKOUT: what dir has beside the files of the tree before stays, such as what was built
	 * there. PREPARE: and so does a set-up that fits. */
	bool reuses;
	bool room_only;			/* VERIFY: the room, not the work tree */

	/* CHECKOUT: names of the rooms beside dir whose tasks have not ended. Of the others, those
	 * of earlier iterations are superfluous; and if displaces, those of slots with a smaller
	 * number: only tasks have numbers in the order of their beginning. */
	char *const *rooms;
	bool displaces;

	/* MEASURE: the base; VERIFY, FIND_EDITS: the tree before; PIN, CHECKOUT, PREPARE, COMMIT:
	 * the tree. WORKTREE_ADD: work to continue, NULL: none. */
	const char *tree;

	/* SNAPSHOT, MEASURE, PIN, COMPARE_REFS: what the workspace is compared with for
	 * git_op_differing(); NULL: not asked for. */
	const char *judged;
	/* SNAPSHOT: a file that may differ from judged: then it is one of appeared_tree; NULL:
	 * none. */
	const char *settings;

	/* COMMIT: the tree to compare with. PREPARE: that of prepared rooms. MERGE: the commit or
	 * tree that the patch base..ref on stdout starts from; NULL: no patch. */
	const char *base;

	/* PIN, SNAPSHOT, BASE, MERGE, WORKTREE_REMOVE. VERIFY: of appeared_tree, NULL: none. No
	 * other program uses it, branch, keep_ref or note_ref: a lock on one is left over from a
	 * git that was killed. */
	const char *ref;

	/* Absolute. CHECKOUT: emptied first, or made. VERIFY: the checkout to be compared, beside a
	 * workspace that is searched for new files if it is not a task's work tree; NULL: compare
	 * the workspace. WORKTREE_ADD, _REMOVE, _DELETE, MERGE: the work tree of the task.
	 * PREPARE: that, or the room. */
	const char *dir;

	/* BASE: what the user calls the other branch, NULL: none. PIN, SNAPSHOT: "HEAD". */
	const char *name;

	/* Without refs/heads/. WORKTREE_ADD, WORKTREE_REMOVE, and with repository. BASE: to be
	 * created at the commit, NULL: none. */
	const char *branch;

	/* BASE, and WORKTREE_ADD and WORKTREE_REMOVE with commit: the instance that branch is
	 * reserved for. If another has it, branch-instance takes its place. NULL: that is an error,
	 * and BASE creates none. */
	const char *instance;

	/* WORKTREE_ADD, COMMIT, ADOPT_COMMITS, MERGE, WORKTREE_REMOVE, INSPECT_HEAD. BASE: that
	 * of an earlier run, which is the base whatever HEAD is; NULL: none. */
	const char *commit;

	/* COMMIT: people may commit in workspace, too. What they have committed since tree was
	 * taken stays, and HEAD need not come after commit. VERIFY with dir, FIND_EDITS: only
	 * people work in workspace meanwhile, so what changes there is theirs. */
	bool shared;

	/* MERGE. known: what ref had when it was moved last: restored if ref is missing, and if ref
	 * has anything else, git_op_moved(); NULL: unknown. BASE with commit: where branch is
	 * created, NULL: at commit. */
	const char *base_commit, *keep_ref, *note_ref, *known;

	/* MERGE, PIN, COMPARE_REFS: the file of git/own_moves.h; NULL: none. */
	const char *moves;

	/* MERGE: what commit is a copy of, made by an earlier MERGE; the note keeps it. NULL: it is
	 * none. */
	const char *origin;

	/* MERGE: do not move ref to a tree other than that of commit. */
	bool holds_back;

	/* MERGE with holds_back. onto: commit that another MERGE has held back; NULL: what ref has.
	 * stands: this commit stands on such a one. */
	const char *onto;
	bool stands;

	/* COMMIT: with a line "Rld-Run: 42". MEASURE: the same, NULL: no hook runs. BASE,
	 * WORKTREE_REMOVE: the whole message. */
	const char *message;

	/* Files or folders that belong to the review and not to the work: no tree, diff or commit
	 * has them. NULL-terminated; NULL: none. SNAPSHOT fails if one is tracked, or has something
	 * tracked in it. */
	char *const *artifacts;

	/* MEASURE, VERIFY of the workspace, FIND_EDITS, COMMIT, ADOPT_COMMITS: files or folders
	 * that other runs write at the same time: not part of the work, whatever the disk has.
	 * MEASURE has them as in shared_paths_tree, else as in tree. A commit takes them from tree,
	 * and leaves an agent's commits of them alone. NULL: none. */
	char *const *shared_paths;
	const char *shared_paths_tree;

	/* SNAPSHOT, MEASURE, VERIFY, FIND_EDITS, ADOPT_COMMITS, MERGE, and with judged: result
	 * of an earlier VERIFY or FIND_EDITS. Its files are not part of the work as long as they
	 * stay as they are there. NULL: none. */
	const char *appeared_tree;

	/* MEASURE, COMMIT, ADOPT_COMMITS: the .gitattributes files of this tree say what is
	 * converted; NULL: those of tree. */
	const char *attributes_tree;

	/* PIN, COMPARE_REFS: "REF ID", as rld set them; NULL: none. */
	char *const *refs;
	/* MEASURE, FIND_EDITS, PREPARE: patterns, relative to the top of the repository, of which
	 * "*" matches no slash; NULL: none. */
	char *const *copy;

	/* PREPARE of a room: with keep, its git repository is made again, for work that started
	 * from this tree. */
	const char *room_base;

	/* PREPARE: what identifies the set-up: then a prepared room is cloned into dir, see
	 * git_op_ready(); or with keep, the set-up has run there, and if tree is base, the room is
	 * kept for others. NULL: there are no prepared rooms. */
	const char *setup;
	int keep;
	const char *copied;		/* with keep: git_op_copied() from before */
	/* patterns of files on which the set-up depends, as may_change */
	char *const *setup_inputs;
	int64_t disk_floor;		/* with less free space, no room is kept */

	/* SNAPSHOT, BASE: files that the review goes by, as lines "SHA-1 SHA-256 NAME" with both
	 * ids that git would give them, or "- - NAME" for a missing one; git_op_modified_basis()
	 * names those that differ from HEAD. NULL: not asked for. */
	char *const *basis;

	/* VERIFY of a room: patterns of files that may be changed there, see path_pattern.h; NULL:
	 * none. */
	char *const *may_change;

	/* MEASURE: patterns for git_op_protected(), and the paths for git_op_judging(); CHECKOUT
	 * that reuses, and PREPARE of a room with keep: such paths are not left there by others;
	 * NULL: none. */
	char *const *protect, *const *judging;
};

struct git_op *git_op_new(const struct git_op_spec *spec);
void git_op_free(struct git_op *op);

/* of a patch, which is the stdout of rl-git: head and tail */
#define GIT_PATCH_KEEP (64 * 1024 * 1024)

/* The input of rl-git, malloc'd. */
char *git_op_text(const struct git_op *op, size_t *size);
/* Reads the result from dirfd, the attempt directory of rl-git. 0, and git_op_error() tells whether
 * the operation failed; or -errno: there is no result. */
int git_op_result(struct git_op *op, int dirfd);
/* Its stdout is a patch, which is read later. */
bool git_op_writes_patch(const struct git_op *op);

/* For rl-git: the operation in fd, NULL: none, and errno says why. */
struct git_op *git_op_read(int fd);
/* Runs it. At the end, what git wrote is on the disk. 0, or -1 with git_op_error(). The patch of
 * MEASURE and MERGE goes to stdout. */
int git_op_run(struct git_op *op);
/* Writes the result into the directory dirfd. 0 or -errno. */
int git_op_write(const struct git_op *op, int dirfd);

/* Redacts names, and the output of programs, in the result of an operation that is over. */
void git_op_redact(struct git_op *op, const struct redactor *redactor);

/* The errno of a fault of the host that a failed git reported, or of a file system that is full by
 * now. 0: none, or none that git knew of. */
int git_op_fault(const struct git_op *op);

const char *git_op_tree(const struct git_op *op);
const char *git_op_error(const struct git_op *op);

/* COMMIT: the new commit, also if a later part failed; NULL: there was nothing to commit. Others:
 * see their kind. */
const char *git_op_commit(const struct git_op *op);

/* The branch of the spec, or the one that was created in its place. */
const char *git_op_branch(const struct git_op *op);

/* WORKTREE_REMOVE: the branch still exists, since it has commits that are nowhere else. */
bool git_op_branch_left(const struct git_op *op);

/* WORKTREE_REMOVE: WORKTREE_DELETE is to follow. */
bool git_op_rest(const struct git_op *op);

/* MEASURE, COMMIT, ADOPT_COMMITS: a hook of the repository refused, or changed what was to be
 * committed: its output, at most 16 KiB, safe for a terminal, with line ends. Nothing was
 * committed; changes of the hook to the work tree stay. Not an error, the operation is done. NULL:
 * no hook refused. */
const char *git_op_refused(const struct git_op *op);
/* MEASURE, COMMIT, ADOPT_COMMITS: git_op_refused(), and a hook changed what was to be committed, or
 * the commit after it was made. Then git_op_commit() of COMMIT is what HEAD has now. */
bool git_op_hook_changed(const struct git_op *op);

/* COMMIT, ADOPT_COMMITS: files, "a.c, b.c and 3 more", of which the commit would have something
 * else by the .gitattributes files of the work; NULL: none. */
const char *git_op_unconverted(const struct git_op *op);

/* MEASURE, ADOPT_COMMITS: paths, "a.c, b.c and 3 more", whose names git allows in no tree, such as
 * .GIT/x: they are in no result. NULL: none. */
const char *git_op_unfit(const struct git_op *op);

/* WORKTREE_ADD: dir has the tree of the spec; false: there is none, or it exists no longer. */
bool git_op_laid(const struct git_op *op);

/* BASE: HEAD, NULL: no commit yet. MERGE: see there. */
const char *git_op_head(const struct git_op *op);

/* SNAPSHOT, BASE, INSPECT_HEAD, COMMIT, ADOPT_COMMITS, without repository: the first line of the
 * file HEAD at the end, "ref: refs/heads/main" or a commit; NULL: it cannot be read. */
const char *git_op_head_at(const struct git_op *op);

/* INSPECT_HEAD, COMMIT, ADOPT_COMMITS: the commits that HEAD had at the start beyond commit; NULL:
 * none. */
char *const *git_op_ahead(const struct git_op *op);

/* CHECKOUT: what git ignores in the user's directory, at most 100 names, directories with a slash
 * at the end; and files of the tree that say how it is set up (core/remedy.h). NULL: none. */
char *const *git_op_ignored(const struct git_op *op);
char *const *git_op_manifests(const struct git_op *op);
/* INSPECT_HEAD, COMMIT: HEAD does not come after commit. */
bool git_op_rewritten(const struct git_op *op);

/* INSPECT_HEAD: what COMMIT would commit is in HEAD already, and of the paths that its commits have
 * changed nothing else is. */
bool git_op_whole(const struct git_op *op);

/* MERGE: paths in conflict, "a.c, b.c (modify/delete) and 3 more", with the kind where there are no
 * markers; NULL: none. MEASURE, COMMIT and ADOPT_COMMITS, with repository, after a MERGE in
 * conflict: where markers are left; nothing was committed. */
const char *git_op_conflicts(const struct git_op *op);
/* MERGE: with holds_back: ref has not moved, because the tree is a new one. */
bool git_op_held_back(const struct git_op *op);
/* MERGE onto a commit that was held back: it does not fit there. Nothing was done. */
bool git_op_put_off(const struct git_op *op);
/* MERGE: the tree is not that of commit: what others have done was added. */
bool git_op_new_tree(const struct git_op *op);
/* MERGE: a work tree that is not ours and has ref checked out: nothing was integrated, and nothing
 * changed. NULL: there is none. */
const char *git_op_taken(const struct git_op *op);
/* PIN, MERGE, COMPARE_REFS: refs that are no longer as rld set them, with the commands that restore
 * them; nothing was pinned or merged. NULL: none. */
const char *git_op_moved(const struct git_op *op);
/* MERGE: see there. */
const char *git_op_base(const struct git_op *op);

/* The files of the spec's basis that differ from HEAD, in the form of git_op_changed(); NULL:
 * none. */
const char *git_op_modified_basis(const struct git_op *op);

/* MEASURE: the paths whose change touches what the spec's protect is for, and those of its judging:
 * added, changed and removed ones, and links and nested repositories in place of a directory above
 * them. In the form of git_op_changed(); NULL: none. */
const char *git_op_protected(const struct git_op *op);
const char *git_op_judging(const struct git_op *op);
/* MEASURE with one of these: submodules that are new, or at another commit. SNAPSHOT: those that
 * are checked out. NULL: none. */
const char *git_op_modules(const struct git_op *op);

/* VERIFY, PREPARE: changed or removed paths, "a.c, b.c and 3 more"; NULL: none. */
const char *git_op_changed(const struct git_op *op);
/* MEASURE, FIND_EDITS, PREPARE: SHA-256 of the files that the spec's copy names: paths, modes and
 * contents; of PREPARE, as they were copied. NULL: without patterns. */
const char *git_op_copied(const struct git_op *op);
/* PREPARE with setup: dir has what the set-up would make. */
bool git_op_ready(const struct git_op *op);
/* PREPARE with setup: there is no prepared room, and dir is none of base. */
bool git_op_unprepared(const struct git_op *op);
/* VERIFY: likewise, of the spec's may_change; the others are those of git_op_changed(). */
const char *git_op_permitted(const struct git_op *op);
/* VERIFY, FIND_EDITS: up to twenty files that are there now, and neither in tree nor in the spec's
 * appeared_tree; NULL: none. */
const char *git_op_appeared(const struct git_op *op);
/* VERIFY with dir, FIND_EDITS: up to twenty files of the workspace that were changed or removed
 * there, and that are not so in the spec's appeared_tree; NULL: none. */
const char *git_op_edited(const struct git_op *op);
/* Up to twenty files of the workspace that are not as in the spec's judged, but for new ones of
 * appeared_tree, or why they cannot be compared; NULL: the workspace has what was judged. */
const char *git_op_differing(const struct git_op *op);
/* VERIFY, FIND_EDITS: a tree of all files that are there and not in tree, and except in a VERIFY
 * without dir of those that were changed or removed. If there are such, then a blank and a tree of
 * what tree has in their place. NULL: none. */
const char *git_op_appeared_tree(const struct git_op *op);

#endif
