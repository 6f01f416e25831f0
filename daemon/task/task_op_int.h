/* SPDX-License-Identifier: MIT */
/* An operation on a task source from inside. */
#ifndef TASK_TASK_OP_INT_H
#define TASK_TASK_OP_INT_H

#include "task/task_op.h"

struct task_op {
	struct task_op_spec spec;	/* owned copy */
	char *bd;			/* absolute path of the program; NULL: none */
	struct {
		char *error, *taken;
		char *ready, *blocked;	/* LOAD: what bd printed */
		int trouble;		/* of error, where a program has failed */
		int fault;		/* of the host, the errno: it is why error is there */
	} result;
	struct task_list list;
};

/* The operation has failed; error is its own from now on. -1. */
int task_op_fail(struct task_op *op, char *error);

#endif
