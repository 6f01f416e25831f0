/* SPDX-License-Identifier: MIT */
/* The activity of a slot: the one thing that is under way in it, or that it waits for.
 * slot/activity_check.c says which goes with which stage.
 *
 *   ACTIVITY_NONE       nothing
 *   ACTIVITY_PERMIT     waits for a permit: to begin, or for an attempt after the slot
 *                       gave its own back
 *   ACTIVITY_ACCOUNT    its attempt waits for an account, a time or a budget; see account_wait.c
 *   ACTIVITY_CHECKS     its check of a merge waits for a permit of the group "checks"
 *   ACTIVITY_PICK       waits until the slots before it have picked a task (assign = "agent")
 *   ACTIVITY_TRAIN      its merge was held back: see slot/train_ride.h
 *   ACTIVITY_TURN       its operation waits for one of another slot that excludes it
 *   ACTIVITY_BASELINE   waits until the checks have run on the base: slot/baseline.c
 *   ACTIVITY_PANEL      waits until the voters of its panel have ended: slot/panel.h
 *   ACTIVITY_RETRY      its operation waits for a fault of the host or its source to pass, and
 *                       begins again at wake_at; see wait.c
 *   ACTIVITY_COMMIT     a transaction is being committed whose effect continues the slot
 *   ACTIVITY_JOB        file work on a worker thread
 *   ACTIVITY_ATTEMPT    the process of attempt id: ended or refused will be reported
 *   ACTIVITY_OPERATION  the process of a step, id, of its operation, with the same reports
 *
 * An operation of git or of a task source lasts longer than one activity: its steps run one after
 * the other, each between a commit and a job; it may wait for its turn or to be retried. */
#ifndef MODEL_ACTIVITY_H
#define MODEL_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/row.h"
#include "git/git_op.h"
#include "task/task_op.h"

enum activity_kind {
	ACTIVITY_NONE,
	ACTIVITY_PERMIT,
	ACTIVITY_ACCOUNT,
	ACTIVITY_CHECKS,
	ACTIVITY_PICK,
	ACTIVITY_TRAIN,
	ACTIVITY_TURN,
	ACTIVITY_BASELINE,
	ACTIVITY_PANEL,
	ACTIVITY_RETRY,
	ACTIVITY_COMMIT,
	ACTIVITY_JOB,
	ACTIVITY_ATTEMPT,
	ACTIVITY_OPERATION,
	ACTIVITIES
};

/* The git or source operation of a slot. */
struct operation {
	bool of_source;			/* on the task source, not git */
	enum git_op_kind git_kind;	/* also while it waits to start */
	enum task_op_kind task_kind;
	struct git_op *git;		/* owned; one of the two, until the next operation starts */
	struct task_op *task;
	/* it has its turn: operations that it excludes wait for its end */
	bool has_turn;
	/* MERGE: it did not fit onto the merge train, and waits until that is over */
	bool put_off;
	size_t shared_count;		/* number of slot_shared_paths() when it started */
	char *patch_hash;		/* SHA-256 of what git printed, owned; NULL: not read yet */
	int tries;			/* how often its step was lost */
	const struct step_row *step;	/* unfinished step, owned; NULL */
	/* input of rl-git, and its environment, until it is launched; owned */
	char *next_input;
	size_t next_input_size;
	char **next_env;
};

struct activity {
	enum activity_kind kind;
	/* ACTIVITY_ATTEMPT, ACTIVITY_OPERATION: id of the process; otherwise ROW_NONE */
	int64_t id;
	/* TIME of the timer of a waiting slot; ROW_NONE: no timer */
	int64_t wake_at;
};

/* The slot waits; kind: ACTIVITY_PERMIT to ACTIVITY_RETRY. */
void activity_wait(struct activity *activity, enum activity_kind kind);
void activity_start_commit(struct activity *activity);
void activity_start_job(struct activity *activity);
void activity_start_attempt(struct activity *activity, int64_t attempt);
void activity_start_operation(struct activity *activity, int64_t step);
void activity_end(struct activity *activity);

/* A commit, a job or a process is under way, which ends by itself. */
bool activity_is_busy(const struct activity *activity);
/* The same, or an operation waits to be retried. */
bool activity_has_begun(const struct activity *activity);
bool activity_has_process(const struct activity *activity);
const char *activity_name(enum activity_kind kind);

/* Free git and task; the rest is set when the next operation begins. */
void operation_free(struct operation *op);
/* Free everything. */
void operation_release(struct operation *op);

#endif
