/* SPDX-License-Identifier: MIT */
/* The overview of a run: how many of its tasks are in which state, why it failed or waits, what it
 * cost, and the command that takes its result. Pure. Made of all rows of a run, or of what the
 * queries run.outline, run.blamed, run.spent and run.branches give of an ended one. */
#ifndef JOB_RUN_OVERVIEW_H
#define JOB_RUN_OVERVIEW_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/row.h"
#include "model/view.h"

/* Zeroed with cost NaN, see overview_init(). Strings are owned. */
struct run_overview {
	size_t tasks, held;		/* held: with an open hold */
	size_t states[TASK_STATES];	/* number of tasks by state */
	int64_t first;			/* position of the task with this title */
	char *title;			/* NULL: no task yet */
	char *task, *reason;		/* the task named in its "why"; NULL: none */
	double cost;			/* USD; NaN: nothing was reported */
	/* short name of the branch with the result; NULL: none, or several */
	char *branch;
	size_t branches;		/* number of tasks that passed, each on its own branch */
};

void overview_init(struct run_overview *o);
void overview_release(struct run_overview *o);

/* Add count tasks in the state of task, which is the first of them. */
void overview_count(struct run_overview *o, const struct task_row *task, size_t count);
/* Name this task in "why", unless one is named already. */
void overview_blame(struct run_overview *o, const char *task, const char *reason);
/* Add the cost of one or more attempts; NaN: unknown. */
void overview_spend(struct run_overview *o, double cost_usd);
/* Add count tasks that passed, each with a branch of its own; the first one has this. */
void overview_branch(struct run_overview *o, const char *branch, size_t count);

/* Needs tasks, slots, attempts and holds. The caller releases it. */
struct run_overview overview_of(const struct run_rows *rows);

/* The object Overview of the protocol. New reference. */
json_t *overview_json(const struct run_overview *o, const struct run_row *run);

#endif
