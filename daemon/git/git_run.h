/* SPDX-License-Identifier: MIT */
/* An operation while rl-git runs it, and git as a function: git_run() starts a git process, waits
 * for it and has its output.
 *
 * Functions that can fail return 0, or -1 if the operation has failed: then result.error says what,
 * and the remedy. Blocking. */
#ifndef GIT_GIT_RUN_H
#define GIT_GIT_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "child/child.h"
#include "git/change.h"
#include "git/git_op.h"
#include "proto/memory.h"

/* Of prepared rooms, see git_op.h. */
enum { GIT_ROOM_READY = 1, GIT_ROOM_MISSING };

/* The result; strings are owned. See the accessors of git_op.h. */
struct git_result {
	char *error;
	int fault;		/* errno of the host fault that caused error */
	char *tree, *commit, *branch, *head, *head_at, *base, *changed, *permitted, *appeared;
	char *appeared_tree, *edited, *differing, *conflicts, *refused, *unfit, *taken, *moved;
	char *modified_basis, *copied, *unconverted, *protected, *judging, *modules;
	char **ahead, **ignored, **manifests;
	int prepared;
	bool rewritten, branch_left, rest, hook_changed, held_back, new_tree, put_off, whole, laid;
};

struct git_op {
	struct git_op_spec spec;	/* owned copy */
	struct git_result result;
	/* the rest is private to rl-git */
	char *index;			/* the private index */
	/* directory of the processes, whose files become a tree: workspace or dir */
	const char *place;
	/* named explicitly, with place as the work tree; NULL: the one that git finds in place */
	char *git_dir;
	/* the evidence repository, from the spec; NULL: not used, or not by this part */
	const char *objects;
	/* shared by all work trees of the repository; NULL: not determined yet */
	char *common;
	bool bare;
	/* what conversions_user_file() looks for in the user's settings; no data: not read yet */
	struct buf user_files;
	bool anonymous;			/* the user has no valid name for commits */
	/* those of the spec, in the form for artifact_has() */
	char **artifacts, **shared_paths;
	/* it failed because the work tree changed meanwhile: a second try may succeed */
	bool moved;
	bool tried_twice;		/* ... which was made already */
	bool steady;			/* no agent or person works in place: nothing
					 * may change there */
	const char *command;		/* the git command that ran last, static */
	unsigned flags;			/* ... and its flags */
	struct child_end end;		/* its end */
};

/* The copy of the file of core.excludesFile in the evidence repository, see submit_copy.h. */
#define GIT_EXCLUDES "rld/excludes"
#define GIT_STAGING "objects"

enum {
	GIT_INDEX = 1,		/* uses the private index */
	GIT_MAY_FAIL = 2,	/* an exit status other than 0 is an answer */
	GIT_HOOKED = 4,		/* the repository's hooks run */
	GIT_FILTERED = 8,	/* its filters may run: interactive prompts fail */
	GIT_ALONE = 16,		/* no configuration but that of the named git directory */
	/* uses the existing files: core.worktree may point elsewhere, and an agent may set it */
	GIT_FILES = 32,
	GIT_MOVING = 64,	/* fails if a file vanishes: op->moved */
	GIT_PATCH = 128,	/* its stdout is that of rl-git */
	GIT_OWN_INDEX = 256,	/* sets the user's index after a commit */
	/* runs in the evidence repository, if the operation has one, and then alone */
	GIT_EVIDENCE = 512,
	/* with GIT_EVIDENCE: new objects go to GIT_STAGING in scratch, and are not synced */
	GIT_STAGED = 1024,
	GIT_INIT = 2048,	/* makes the evidence repository */
};

struct git_call {
	unsigned flags;
	const char *input;		/* stdin; NULL: none */
	size_t input_size;
	const char *inside;		/* a repository inside place, to run in; NULL: place */
	const char *git_dir;		/* instead of op->git_dir, without a work tree; NULL */
	const char *place;		/* instead of op->place; NULL */
	char *const *more;		/* additional words, after the others; NULL: none */
	int output;			/* descriptor for its stdout; 0: none, it is kept */
	void (*reader)(void *arg, int fd);	/* see struct child */
	void *arg;
};

/* Run git with these words, NULL-terminated. 0; 1: GIT_MAY_FAIL, and it has failed; -1. Its output
 * is git_out() until the next call. */
int git_run_call(struct git_op *op, const struct git_call *call, const char *word, ...) __attribute__((sentinel));
#define git_run(op, flags, ...) git_run_call(op, &(struct git_call){ (flags), .input = NULL }, __VA_ARGS__, NULL)
#define git_run_input(op, flags, in, ...) \
	git_run_call(op, &(struct git_call){ (flags), .input = (in)->data != NULL ? (in)->data : "", \
	    .input_size = (in)->size }, __VA_ARGS__, NULL)

/* Output of the last git: never NULL; and its size. */
const char *git_out(const struct git_op *op);
size_t git_out_size(const struct git_op *op);
/* The only line of that output without the newline, malloc'd; NULL: no output. */
char *git_out_line(const struct git_op *op);

/* The first line of a git that must print one, such as an id: malloc'd; NULL: it has failed. what:
 * for an error, "no commit". */
char *git_line(struct git_op *op, const char *what);

/* All return -1. */
int git_fail(struct git_op *op, char *error);			/* takes ownership of error */
/* because of the process that ran last */
int git_fail_process(struct git_op *op);
/* because of unexpected output */
int git_fail_output(struct git_op *op);
/* takes ownership of error; a second try may succeed */
int git_fail_moved(struct git_op *op, char *error);

/* What to do in the work tree; for a task's own, that its content is saved. */
const char *git_remedy(const struct git_op *op, const char *there);
/* What to do when a set-up has broken its place. */
#define GIT_OTHER_SETUP "change run.setup, then use `rlctl retry --new-setup`"
#define GIT_KEPT \
	"that work tree is removed with its task, and its content is saved: " \
	    "see its branch and `rlctl salvage list`, then retry the run"

/* update-index with these lines of changes_index() or snapshot_index(), if any; releases lines. */
int git_update_index(struct git_op *op, unsigned flags, struct buf *lines);
/* Remove the private index. */
void git_fresh_index(const struct git_op *op);

/* Find the directory shared by the repository's work trees, and whether it is bare. */
int git_find_common(struct git_op *op);
/* The id of a name, such as "HEAD^{commit}", malloc'd; *id NULL: none. */
int git_resolve(struct git_op *op, const char *name, char **id);

/* A list of names for people: "a.c, b.c, d.c and 3 more". */
struct names {
	struct buf text;
	size_t count;
	size_t shown;		/* at most this many; 0: three */
};

void names_add(struct names *names, const char *path);
/* The list, malloc'd; NULL: empty. */
char *names_take(struct names *names);

/* All files of a tree under review. Releases the previous content of files. */
int git_list_tree(struct git_op *op, const char *tree, struct changes *files);
/* Output of `diff-tree -r -z --raw` of two trees or commits; flags beside. */
int git_diff(struct git_op *op, unsigned flags, const char *from, const char *to,
    char *const *artifacts, struct changes *changes);

#endif
