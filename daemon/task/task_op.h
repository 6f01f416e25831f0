/* SPDX-License-Identifier: MIT */
/* What a run asks of its task source while it works. core/tasks.h decides which task is next.
 *
 *              LOAD                 CLAIM              CLOSE              RELEASE
 *   prompt     -                    -                  -                  -
 *   workflow   - (read at submit)   -                  -                  -
 *   stories    - (read at submit)   -                  passes: true       -
 *   beads, bd  bd ready, bd blocked bd update --claim  bd close --reason  bd update --status open
 *   beads      .beads/issues.jsonl  -                  -                  -
 *
 * bd is used if it is on the PATH of the run's agents, which each operation checks again.
 * Operations with nothing to do are done immediately, without a step. */
#ifndef TASK_TASK_OP_H
#define TASK_TASK_OP_H

#include <stdbool.h>

#include "base/redact.h"
#include "base/step.h"
#include "proto/state_names.h"
#include "task/task.h"

enum source_kind { SOURCE_PROMPT, SOURCE_BEADS, SOURCE_STORIES, SOURCE_WORKFLOW, SOURCES };

/* One row per source. */
struct source {
	const char *name;	/* "beads": stored in run.source */
	/* tasks may come and go during the run: load it before each iteration */
	bool reloads;
	bool markers;		/* a stop marker ends the run */
	bool claims;		/* other runs may want the same task: a claim row names its owner */
	/* for the reviews of its tasks, instead of the run's; NULL: the run's */
	const char *profile;
};

extern const struct state_names source_names;
extern const struct source sources[SOURCES];

/* -1: no such source. */
int source_find(const char *name);

enum task_op_kind { TASK_OP_LOAD, TASK_OP_CLAIM, TASK_OP_CLOSE, TASK_OP_RELEASE, TASK_OPS };

extern const char *const task_op_names[TASK_OPS];

/* All strings are copied. */
struct task_op_spec {
	enum task_op_kind kind;
	enum source_kind source;
	/* beads: the directory that contains .beads; stories: the PRD file; absolute. NULL: nothing
	 * to write to */
	const char *path;
	const char *search;	/* PATH to search for bd, and for its process; NULL: no bd */
	const char *task;	/* id; LOAD: NULL */
	const char *actor;	/* claimant: "rld-42-5c1f09ab" */
	const char *reason;	/* CLOSE */
};

struct task_op;

struct task_op *task_op_new(const struct task_op_spec *spec);
void task_op_free(struct task_op *op);

/* Does what needs no program. STEP_NEXT_RUN: run rl-git next. Works on files: call it off the
 * loop. */
enum step_next task_op_begin(struct task_op *op);

/* The input of rl-git, malloc'd. */
char *task_op_text(const struct task_op *op, size_t *size);
/* Reads what rl-git left in dirfd, its attempt directory. Returns 0, and task_op_error() tells
 * whether it failed; or -errno: no result. */
int task_op_result(struct task_op *op, int dirfd);

/* For rl-git: the operation in fd, NULL: none, and errno says why. */
struct task_op *task_op_read(int fd);
/* Run it, with bd. Returns 0, or -1 with task_op_error(). */
int task_op_run(struct task_op *op);
/* Write the result to the directory dirfd. Returns 0 or -errno. */
int task_op_write(const struct task_op *op, int dirfd);

/* Redact the messages of the source's program at the end. The tasks themselves are the user's own
 * text. */
void task_op_redact(struct task_op *op, const struct redactor *redactor);

const char *task_op_error(const struct task_op *op);

/* Why an operation failed, as far as its program tells. */
enum task_trouble {
	TROUBLE_LASTS,		/* permanent: no such issue, an unknown option */
	TROUBLE_UNCLEAR,	/* no known message */
	TROUBLE_PASSES,		/* temporary: a locked database, a timeout, a signal */
	TROUBLES
};

enum task_trouble task_op_trouble(const struct task_op *op);
/* The errno of a host fault in the program's message; 0: none. */
int task_op_fault(const struct task_op *op);

/* LOAD: valid until the operation is freed. */
const struct task_list *task_op_list(const struct task_op *op);
/* LOAD: bd was used, so claims of other programs are visible. */
bool task_op_has_bd(const struct task_op *op);

/* CLAIM: NULL if the task is ours; otherwise its claimant or status, in the source's
 * words. Not an error. */
const char *task_op_taken(const struct task_op *op);

#endif
