/* SPDX-License-Identifier: MIT */
/* What a run asks of its task source while it runs: {load, claim, done, release}. `next` is the
 * core's (core/tasks.h).
 *
 *              LOAD                      CLAIM CLOSE RELEASE
 *   prompt     - - - -
 *   workflow   - (at submit) - - -
 *   stories    - (at submit) - passes: true -
 *   beads, bd  bd ready, bd blocked bd update --claim bd close --reason bd update --status
 *              open, no assignee
 *   beads      .beads/issues.jsonl - - -
 *
 * bd is used when it is on the PATH of the run's agents; which was found is decided by each
 * operation anew. The operations that have nothing to do are done at once, without a step. */
#ifndef TASK_TASK_OP_H
#define TASK_TASK_OP_H

#include <stdbool.h>

#include "base/redact.h"
#include "base/step.h"
#include "task/task.h"

enum source_kind { SOURCE_PROMPT, SOURCE_BEADS, SOURCE_STORIES, SOURCE_WORKFLOW, SOURCES };

/* One row a source. */
struct source {
	const char *name;	/* "beads": stored in run.source */
	bool reloads;		/* tasks may come and go while the run works: it is loaded
				 * before each iteration */
	bool markers;		/* a stop marker ends the run */
	bool claims;		/* other runs may want the same task: a claim row
				 * says whose it is */
	const char *profile;	/* of the reviews of its tasks, whatever the run's
				 * is; NULL: the run's */
};

extern const struct source sources[SOURCES];

/* -1: no source of that name. */
int source_find(const char *name);

enum task_op_kind { TASK_OP_LOAD, TASK_OP_CLAIM, TASK_OP_CLOSE, TASK_OP_RELEASE, TASK_OPS };

extern const char *const task_op_names[TASK_OPS];

/* All strings are copied. */
struct task_op_spec {
	enum task_op_kind kind;
	enum source_kind source;
	const char *path;	/* beads: the directory that holds .beads; stories: the PRD file;
				 * absolute. NULL: there is none to write to */
	const char *search;	/* PATH in which bd is looked for, and that its process
				 * gets; NULL: no bd */
	const char *task;	/* id; LOAD: NULL */
	const char *actor;	/* who claims: "rld-42-5c1f09ab" */
	const char *reason;	/* CLOSE */
};

struct task_op;

struct task_op *task_op_new(const struct task_op_spec *spec);
void task_op_free(struct task_op *op);

/* What is done without a program. STEP_NEXT_RUN: rl-git is to be run. Does file work: called off
 * the loop. */
enum step_next task_op_begin(struct task_op *op);

/* What rl-git reads, malloc'd. */
char *task_op_text(const struct task_op *op, size_t *size);
/* What it has left in dirfd, its attempt directory. 0, and task_op_error() tells whether it failed;
 * or -errno: there is no result. */
int task_op_result(struct task_op *op, int dirfd);

/* For rl-git: the operation that fd has, NULL: none. */
struct task_op *task_op_read(int fd);
/* Does it, with bd. 0, or -1 with task_op_error(). */
int task_op_run(struct task_op *op);
/* The result, into the directory dirfd. 0 or -errno. */
int task_op_write(const struct task_op *op, int dirfd);

/* When it is over: what the source's program said is masked. The tasks themselves are the user's
 * own words. */
void task_op_redact(struct task_op *op, const struct redactor *redactor);

const char *task_op_error(const struct task_op *op);

/* Why an operation has failed, as far as its program tells. */
enum task_trouble {
	TROUBLE_LASTS,		/* the same again would come to the same: no such issue, an option
				 * that it does not know */
	TROUBLE_UNCLEAR,	/* it said nothing that is known here */
	TROUBLE_PASSES,		/* its database was locked, it took too long, it was killed */
	TROUBLES
};

enum task_trouble task_op_trouble(const struct task_op *op);
/* The errno of a fault of the host that the program spoke of; 0: none. */
int task_op_fault(const struct task_op *op);

/* LOAD: valid until the op is freed. */
const struct task_list *task_op_list(const struct task_op *op);
/* LOAD: bd was asked, so claims of other programs are seen. */
bool task_op_has_bd(const struct task_op *op);

/* CLAIM: NULL when the task is ours; else who has it, in the source's words. Not an error. */
const char *task_op_taken(const struct task_op *op);

#endif
