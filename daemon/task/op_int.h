/* SPDX-License-Identifier: MIT */
/* What the files of an operation on a task source share. */
#ifndef TASK_OP_INT_H
#define TASK_OP_INT_H

#include <stdbool.h>

#include "task/op.h"

enum bd_stage { BD_NONE, BD_READY, BD_BLOCKED, BD_CLAIM, BD_CLOSE, BD_CLOSED, BD_SHOW, BD_OPEN, BD_STAGES };

struct task_op {
	enum task_op_kind kind;
	enum source_kind source;
	char *path, *search, *task, *actor, *reason;
	char *bd;		/* absolute path of the program; NULL: none */
	enum bd_stage stage;	/* what runs now */
	char **argv, **env;	/* of it */
	int dirfd;		/* its attempt directory, for one call */
	struct task_list list;
	char *ready, *blocked;	/* LOAD: what bd printed */
	char *taken;
	char *error;
	enum task_trouble trouble;	/* of error, where a program has failed */
	int fault;			/* of the host, the errno: it is why error is there */
};

/* The operation has failed. error is the op's from now on. */
enum bd_stage op_fail_with(struct task_op *op, char *error);

/* The stage an operation with bd begins with. */
enum bd_stage bd_begin(struct task_op *op);

/* What the process of op->stage came to: the next stage, or BD_NONE with op->error or the operation's results. */
enum bd_stage bd_result(struct task_op *op, bool ok);

/* LOAD: the tasks, from what bd printed in rl-git; NULL: it did not. */
void bd_take(struct task_op *op, const char *ready, const char *blocked);

/* argv and env of op->stage. */
void bd_prepare(struct task_op *op, struct step_spec *step);

#endif
