/* SPDX-License-Identifier: MIT */
/* A step of an operation of git or of a task source: begins it, and reads what it came to. */
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

/* Of an operation that is made by the worker, since PATH is in the kept environment.
 * Strings owned. */
struct source_spec {
	enum task_op_kind kind;
	enum source_kind source;
	char *path, *task, *actor, *reason;
};

struct step_job {
	struct job job;
	struct slot_key key;		/* the slot that waits for it */
	struct git_op *git;		/* one of both, borrowed: the operation of the slot has it,
					 * and leaves it alone while a job is under way */
	struct task_op *task;
	struct source_spec source;	/* what has to be made, where both are NULL */
	struct task_op *made;		/* out, owned; NULL: none had to be made */
	struct secrets secrets;		/* owned: the run's environment, and what must not be seen
					 * in what git or bd says */
	char *scratch;			/* owned: a directory that the first call makes */
	int64_t step;			/* whose result is to be read; ROW_NONE: first call */
	bool ok;			/* rl-git has ended with 0 */
	enum step_next next;		/* out */
	char *input;			/* out, owned: stdin of rl-git, for STEP_NEXT_RUN */
	size_t input_size;
	char **env;			/* out, owned: its whole environment */
	char *error;			/* out, owned: something but git failed; counts
					 * as STEP_NEXT_FAILED */
};

extern const struct job_type operation_step_type;

#endif
