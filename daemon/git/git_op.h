/* SPDX-License-Identifier: MIT */
/* Git operations: what they are asked to do, and what came of it. The engine writes an operation down, rl-git reads it, does it with git
 * and writes the result, which the engine reads. No operation but COMMIT and COMMITTED touches
 * the index, stash or checked-out branch of workspace; they, and MEASURE with a message, run hooks and the filters that a commit
 * needs; no other but BASE, WORKTREE and MERGE, and those on their own work tree, runs a filter of the repository, and none runs a fsmonitor, merge driver, diff or text conversion program. */
#ifndef GIT_GIT_OP_H
#define GIT_GIT_OP_H

#include <stdbool.h>

#include "base/redact.h"
#include "base/step.h"

enum git_op_kind {
	GIT_SNAPSHOT,		/* tree id of everything git does not ignore; when ref is given, it is pointed there. When name is given, gives the commit
				 * that it is */
	GIT_MEASURE,		/* snapshot, then the patch base_tree..tree is printed. With repository: are there markers of a
				 * conflict left? With message: the hooks that a commit of it would run are run, and nothing is committed;
				 * files that they put in form are measured in that form */
	GIT_VERIFY,		/* snapshot; when it differs from tree: which paths are changed or gone, and which are new. Nothing is moved:
				 * the new ones are no work, and become the tree beside */
	GIT_PIN,		/* point ref at tree; when name is given, gives the commit that it is */
	GIT_CHECKOUT,		/* lay tree out in dir, byte for byte: no filter, no attribute, no hook */
	GIT_COMMIT,		/* commit what differs between base and tree to the checked-out branch (or detached HEAD), when the
				 * work tree still has it; clean filters and the commit's hooks run, with the rights of the step. What
				 * else the user has staged stays staged. Begun again after a death, it finds its own commit by the
				 * lines "Rld-..." of message: make them tell it from others of the run. When commit, where HEAD
				 * was, is given, an agent may have committed on top of it: with the rest the last commit has what of tree
				 * was touched. No commit since then has an artifact, and with nothing left to be committed, HEAD is given */
	GIT_BASE,		/* the commit that work starts from. With name: the merge base of HEAD and name, and nothing uncommitted. Else
				 * HEAD, and when the work tree has anything that git does not ignore beyond it, a commit of that on top
				 * (clean filters run; index, branch and stash stay; of a repository inside it has the commit, not what
				 * is uncommitted there). An unborn HEAD: a commit without a parent. A bare repository: HEAD. ref is
				 * pointed there. Gives commit, and its tree. Conflicts that are not resolved: refused */
	GIT_WORKTREE,		/* a work tree of its own in dir, on branch (short name), which is made at commit, or is there already
				 * when commit is NULL; locked, so that nobody prunes it. Gives the tree as the disk has it, and the commit.
				 * Smudge filters run. What is left of an earlier begin is removed first; one that came to its end is taken
				 * as it is, with what was done there since. Refused with the remedy: submodules that are checked out in
				 * workspace, a branch of that name that is elsewhere, a dir that has something not ours */
	GIT_COMMITTED,		/* an agent has committed in workspace: are its commits on commit (the base), without artifacts, and is
				 * the work tree still tree? They must be a line. What it left out is committed as COMMIT does. Gives the last
				 * commit. commit NULL: not told, only HEAD is looked at for artifacts */
	GIT_MERGE,		/* the commits base_commit..commit one by one on top of what ref has (created at base_commit when it is not
				 * there): linear, authors and messages kept, no hook. Those that change nothing any more are left out. When they
				 * are no line, or agree with the tip only all together, they become one commit with message.
				 * Gives the new tip, and ref is moved there; a note of that stays under note_ref. A conflict: nothing
				 * of ref moves, but the branch that dir has checked out is set to that tip (what it had stays in
				 * keep_ref), and dir to the merged files with conflict markers. Then git_op_conflicts() is not NULL, commit
				 * is the tip, git_op_base() the tip's tree as the disk had it, and the tree is what lies there now */
	GIT_CLEAR,		/* everything in the work tree dir that its HEAD does not have, untracked and ignored files too, byte for byte
				 * and no filter, or a HEAD that is on no branch, is saved as a commit under ref, with HEAD (else branch, else
				 * commit) as its parent; then dir and its registration are removed, and branch when it still is at commit
				 * and nobody has it checked out. Gives the saved commit, NULL: there was nothing to save. An agent that broke
				 * .git, index or registration does not stop it. dir is not there: done. What cannot be saved (a repository
				 * inside, a name that git does not take) is an error, and dir stays. Begun again with ref there, what it had
				 * is kept as a second parent. Not saved: what only the index has, empty directories, pipes and sockets, artifacts.
				 * While it is removed, dir has the name dir.cleared */
	GIT_LOOK,		/* HEAD of workspace and its tree, when it is not at commit any more, and how it came there. commit NULL: there was none */
	GIT_OPS
};

extern const char *const git_op_names[GIT_OPS];

struct git_op;

/* All strings are copied. */
struct git_op_spec {
	enum git_op_kind kind;
	const char *workspace;	/* repository top, absolute */
	const char *repository;	/* its top, absolute, when workspace is a work tree that WORKTREE has made there on branch: only there
				 * anything is done, and COMMIT and COMMITTED bring a HEAD that is elsewhere back to branch. NULL: it is none */
	const char *scratch;	/* an existing directory of ours, absolute: the private index */
	const char *tree;	/* MEASURE: the base; VERIFY: the tree before; PIN, CHECKOUT, COMMIT: the tree */
	const char *base;	/* COMMIT: the tree to compare with; MERGE: the commit or tree, the patch base..ref is printed
				 * when all is done; NULL: none is made */
	const char *ref;	/* PIN, SNAPSHOT, BASE, MERGE, CLEAR; VERIFY: of beside, NULL: none; as branch, keep_ref and note_ref, ours alone: a lock on it is that of a git that was killed */
	const char *dir;	/* absolute; CHECKOUT: emptied first, made when it is not there; VERIFY: that checkout is looked at, and a
				 * workspace that is no work tree of a task for new files; NULL: the workspace; WORKTREE, CLEAR, MERGE: the work tree of the task */
	const char *name;	/* BASE: what the user calls the other branch, NULL: none; PIN, SNAPSHOT: "HEAD" */
	const char *branch;	/* WORKTREE, CLEAR, and with repository: without refs/heads/; BASE: one that is to be made at the commit, NULL: none */
	const char *instance;	/* BASE, and WORKTREE and CLEAR with commit: for whom branch is reserved. One that is not
				 * ours gives way to branch-instance. NULL: it is an error, and BASE makes none */
	const char *commit;	/* WORKTREE, COMMIT, COMMITTED, MERGE, CLEAR, LOOK */
	bool shared;		/* COMMIT: persons may commit in workspace, too. What they have committed since tree was taken stays, and HEAD
				 * need not come after commit */
	const char *base_commit;	/* MERGE */
	const char *keep_ref, *note_ref;	/* MERGE */
	const char *known;	/* MERGE: what ref had when it was moved last, and gets again when it is not there any more; NULL: it was not moved yet */
	const char *message;	/* COMMIT: with a line "Rld-Run: 42"; MEASURE: the same, NULL: no hook runs; BASE, CLEAR: whole */
	char *const *artifacts;	/* paths relative to workspace, files or folders, that are of the review and not of the work: no tree,
				 * diff or commit has them. NULL-terminated; NULL: none. One that is tracked, or a folder that has
				 * something tracked in it, is an error of SNAPSHOT */
	char *const *others;	/* MEASURE, VERIFY of the workspace, COMMIT, COMMITTED: paths relative to workspace, files or folders, that others
				 * keep there and write meanwhile: no work, whatever the disk has. MEASURE has them as others_tree does, else as
				 * tree does; a commit takes them from tree, and leaves what an agent has committed of them. NULL: none */
	const char *others_tree;
	const char *beside;	/* MEASURE, VERIFY, COMMITTED, MERGE: of an earlier VERIFY: such files are no work while they are as they are there;
				 * NULL: none */
	char *const *judges;	/* SNAPSHOT, BASE: paths relative to workspace, of files that say how work is judged; git_op_judges() tells which of them are not
				 * as HEAD has them. NULL: nobody asks */
};

struct git_op *git_op_new(const struct git_op_spec *spec);
void git_op_free(struct git_op *op);

#define GIT_PATCH_KEEP (64 * 1024 * 1024)	/* of a patch, which is the stdout of rl-git: head and tail */

/* What rl-git reads, malloc'd. */
char *git_op_text(const struct git_op *op, size_t *size);
/* What it has left in dirfd, its attempt directory. 0, and git_op_error() tells whether it failed; or -errno: there is no result. */
int git_op_result(struct git_op *op, int dirfd);

/* For rl-git: the operation that fd has, NULL: none. */
struct git_op *git_op_read(int fd);
/* Does it. When it is done, what git wrote is on the disk. 0, or -1 with git_op_error(). The patch of MEASURE and MERGE goes to stdout. */
int git_op_run(struct git_op *op);
/* The result, into the directory dirfd. 0 or -errno. */
int git_op_write(const struct git_op *op, int dirfd);

/* When it is over: what it says of names and of what programs said is masked. */
void git_op_redact(struct git_op *op, const struct redactor *redactor);

/* The errno of a fault of the host that a failed git spoke of, or that there is by now: its file system is full. 0: none, or none that git knew of. */
int git_op_fault(const struct git_op *op);

const char *git_op_tree(const struct git_op *op);
const char *git_op_error(const struct git_op *op);

/* COMMIT: the new commit, also after an error that was found behind it; NULL: there was nothing to commit. The others as they say. */
const char *git_op_commit(const struct git_op *op);

/* That of the spec, or the one that was made in its place. */
const char *git_op_branch(const struct git_op *op);

/* CLEAR: the branch is still there, since it has commits that are nowhere else. */
bool git_op_branch_left(const struct git_op *op);

/* MEASURE, COMMIT, COMMITTED: a hook of the repository said no, or changed what was to be committed: its words, at most 16 KiB, safe for a
 * terminal, with line ends. Nothing was committed; work tree changes of the hook stay. Not an error, the operation is done; NULL:
 * nobody did. */
const char *git_op_refused(const struct git_op *op);

/* BASE: HEAD, NULL: no commit yet. */
const char *git_op_head(const struct git_op *op);

/* SNAPSHOT, BASE, LOOK, COMMIT, COMMITTED, without repository: the first line of the file HEAD at the end, "ref: refs/heads/main" or a commit;
 * NULL: it cannot be read. */
const char *git_op_head_at(const struct git_op *op);

/* LOOK, COMMIT, COMMITTED: the commits that HEAD had when it began, and not at commit; NULL: none. */
char *const *git_op_ahead(const struct git_op *op);
/* LOOK, COMMIT: HEAD does not come after commit. */
bool git_op_rewritten(const struct git_op *op);

/* MERGE: paths in conflict, "a.c, b.c (modify/delete) and 3 more", with the kind where there are no markers; NULL: none.
 * MEASURE, COMMIT and COMMITTED, with repository, when a MERGE had a conflict: where its markers still are; nothing was committed. */
const char *git_op_conflicts(const struct git_op *op);
/* MERGE: the work tree that has ref checked out, and which is none of ours: nothing was integrated, and what was to be is as it was.
 * NULL: there is none. */
const char *git_op_taken(const struct git_op *op);
/* MERGE: see there. */
const char *git_op_base(const struct git_op *op);

/* Of the spec's judges those that HEAD has not as they are, in the form of git_op_changed(); NULL: none. */
const char *git_op_judges(const struct git_op *op);

/* VERIFY: changed or removed paths, "a.c, b.c and 3 more"; NULL: none. */
const char *git_op_changed(const struct git_op *op);
/* VERIFY: files that are there now, and were neither in tree nor in beside, up to twenty of them; NULL: none. */
const char *git_op_appeared(const struct git_op *op);
/* VERIFY: a tree of all files that are there and not in tree; NULL: there are none. */
const char *git_op_beside(const struct git_op *op);

/* Top of the repository that holds dir, by looking for .git upwards without running git; *top NULL: there is none. malloc'd. 0, or
 * -errno when that could not be found out. */
int git_top(const char *dir, char **top);

#endif
