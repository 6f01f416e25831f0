/* SPDX-License-Identifier: MIT */
/* Internals of an operation on a task source. */
#ifndef TASK_TASK_OP_INT_H
#define TASK_TASK_OP_INT_H

#include "task/task_op.h"

struct task_op {
	struct task_op_spec spec;	/* owned copy */
	char *bd;			/* absolute path of the program; NULL: none */
	struct {
		char *error, *taken;
		char *ready, *blocked;	/* LOAD: output of bd */
		int trouble;		/* for error, if a program failed */
		int fault;		/* errno of the host fault that caused error */
	} result;
	struct task_list list;
};

/* The operation has failed; takes ownership of error. Returns -1. */
int task_op_fail(struct task_op *op, char *error);

#endif
