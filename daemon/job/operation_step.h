/* SPDX-License-Identifier: MIT */
/* A step of an operation of git or of a task source: starts it, and reads its result. */
#ifndef JOB_OPERATION_STEP_H
#define JOB_OPERATION_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "git/git_op.h"
#include "job/secrets.h"
#include "model/job.h"
#include "model/slot_key.h"
#include "task/task_op.h"

/* An operation made by the worker, because PATH is in the saved environment. Strings are owned. */
struct source_spec {
	enum task_op_kind kind;
	enum source_kind source;
	char *path, *task, *actor, *reason;
};

struct step_job {
	struct job job;
	struct slot_key key;		/* the slot that waits for it */
	/* one of the two, borrowed: owned by the slot's operation, which leaves it alone while a
	 * job is running */
	struct git_op *git;
	struct task_op *task;
	struct source_spec source;	/* the operation to make, if both are NULL */
	struct task_op *made;		/* out, owned; NULL: none was needed */
	/* owned: the run's environment, and secrets to redact in messages of git or bd */
	struct secrets secrets;
	char *scratch;			/* owned: a directory that the first call creates */
	int64_t step;			/* step whose result is read; ROW_NONE: first call */
	bool ok;			/* rl-git exited with 0 */
	enum step_next next;		/* out */
	char *input;			/* out, owned: stdin of rl-git, for STEP_NEXT_RUN */
	size_t input_size;
	char **env;			/* out, owned: its whole environment */
	char *patch_hash;		/* out, owned: SHA-256 of what git printed, NULL */
	/* out, owned: a failure outside git; counts as STEP_NEXT_FAILED */
	char *error;
};

extern const struct job_type operation_step_type;

#endif
