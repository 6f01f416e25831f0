/* SPDX-License-Identifier: MIT */
/* An operation while rl-git runs it, and git as a function: git_run() starts one git process, waits
 * for it and has its output.
 *
 * Functions that can fail return 0, or -1 when the operation has failed: then result.error says
 * what, and the remedy. Blocking. */
#ifndef GIT_GIT_RUN_H
#define GIT_GIT_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "child/child.h"
#include "git/change.h"
#include "git/git_op.h"
#include "proto/memory.h"

/* What came of it; strings are owned. See the accessors of git_op.h. */
struct git_result {
	char *error;
	int fault;		/* of the host, the errno: it is why error is there */
	char *tree, *commit, *branch, *head, *head_at, *base, *changed, *appeared, *appeared_tree;
	char *conflicts, *refused, *taken, *modified_basis;
	char **ahead;
	bool rewritten, branch_left;
};

struct git_op {
	struct git_op_spec spec;	/* owned copy */
	struct git_result result;
	/* the rest is rl-git's alone */
	char *index;			/* the private index */
	const char *place;		/* where processes run and whose files become a tree:
					 * workspace or dir */
	char *git_dir;			/* named outright, with place as the work tree; NULL: the
					 * one that git finds in place */
	char *common;			/* what all work trees of the repository share; NULL:
					 * not asked for yet */
	bool bare;
	bool anonymous;			/* the user has no name that git would take */
	char **artifacts, **shared_paths;	/* those of the spec, in the form that
						 * artifact_has() wants */
	bool moved;			/* it failed since the work tree changed meanwhile: a
					 * second try may succeed */
	bool tried_twice;		/* ... and there was one */
	bool steady;			/* nobody works in place: nothing may move there */
	const char *command;		/* the git command that ran last, static */
	unsigned flags;			/* ... and its flags */
	struct child_end end;		/* of it */
};

enum {
	GIT_INDEX = 1,		/* on the private index */
	GIT_MAY_FAIL = 2,	/* that it exits with another status than 0 is an answer */
	GIT_HOOKED = 4,		/* the repository's hooks run */
	GIT_FILTERED = 8,	/* its filters may run: nothing that could ask somebody gets to */
	GIT_ALONE = 16,		/* no configuration but that of the git directory that is named */
	GIT_FILES = 32,		/* of the files that are there: core.worktree may point elsewhere,
				 * and an agent may set it */
	GIT_MOVING = 64,	/* it fails when a file vanishes: op->moved */
	GIT_PATCH = 128,	/* its stdout is that of rl-git */
	GIT_OWN_INDEX = 256,	/* it sets the index of the user behind a commit */
};

struct git_call {
	unsigned flags;
	const char *input;		/* stdin; NULL: none */
	size_t input_size;
	const char *inside;		/* a repository inside place in which it
					 * runs; NULL: place */
	const char *git_dir;		/* instead of op->git_dir, without a work tree; NULL */
	const char *place;		/* instead of op->place; NULL */
	char *const *more;		/* further words, behind the others; NULL: none */
	void (*reader)(void *arg, int fd);	/* see struct child */
	void *arg;
};

/* git with these words, NULL-terminated. 0; 1: GIT_MAY_FAIL, and it has failed; -1. Its output is
 * git_out() until the next call. */
int git_run_call(struct git_op *op, const struct git_call *call, const char *word, ...) __attribute__((sentinel));
#define git_run(op, flags, ...) git_run_call(op, &(struct git_call){ (flags), .input = NULL }, __VA_ARGS__, NULL)
#define git_run_input(op, flags, in, ...) \
	git_run_call(op, &(struct git_call){ (flags), .input = (in)->data != NULL ? (in)->data : "", \
	    .input_size = (in)->size }, __VA_ARGS__, NULL)

/* What it printed: never NULL; and its size. */
const char *git_out(const struct git_op *op);
size_t git_out_size(const struct git_op *op);
/* Its only line without the line end, malloc'd; NULL: it printed none. */
char *git_out_line(const struct git_op *op);

/* The first line of one that must print it, such as an id: malloc'd; NULL: it has failed. what: of
 * an error, "no commit". */
char *git_line(struct git_op *op, const char *what);

/* All return -1. */
int git_fail(struct git_op *op, char *error);			/* takes error */
/* the process that ran last is why */
int git_fail_process(struct git_op *op);
/* it printed what is not understood */
int git_fail_output(struct git_op *op);
/* takes error; a second try may succeed */
int git_fail_moved(struct git_op *op, char *error);

/* What to do in the work tree, or when it is a task's own: that it is kept. */
const char *git_remedy(const struct git_op *op, const char *there);
#define GIT_KEPT \
	"that work tree goes with its task, and what it has is kept: " \
	    "see its branch and `rlctl salvage list`, then retry the run"

/* update-index with these lines of changes_index() or snapshot_index(), if there are any; releases
 * lines. */
int git_update_index(struct git_op *op, unsigned flags, struct buf *lines);
/* Nothing is left of the private index. */
void git_fresh_index(const struct git_op *op);

/* The repository's place of what all its work trees share, and whether it is bare. */
int git_find_common(struct git_op *op);
/* The id of a name, such as "HEAD^{commit}", malloc'd; *id NULL: there is none. */
int git_resolve(struct git_op *op, const char *name, char **id);

/* A list of names for people: "a.c, b.c, d.c and 3 more". */
struct names {
	struct buf text;
	size_t count;
	size_t shown;		/* at most so many; 0: three */
};

void names_add(struct names *names, const char *path);
/* The list, malloc'd; NULL: nothing was added. */
char *names_take(struct names *names);

/* All files of tree. What files held is released. */
int git_list_tree(struct git_op *op, const char *tree, struct changes *files);
/* Output of `diff-tree -r -z --raw` of two trees or commits; flags beside. */
int git_diff(struct git_op *op, unsigned flags, const char *from, const char *to,
    char *const *artifacts, struct changes *changes);

#endif
