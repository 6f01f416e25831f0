/* SPDX-License-Identifier: MIT */
/* Which task of a run is next: dependencies first, then the order in which the source offers them. Pure. */
#ifndef CORE_TASKS_H
#define CORE_TASKS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/row.h"

enum task_wait {
	TASK_W_NOTHING,		/* it may start */
	TASK_W_DEPENDENCY,	/* one that it depends on has not passed yet */
	TASK_W_NEVER,		/* ... and never will */
	TASK_W_NOT_OPEN		/* it has been begun, or is over */
};

/* Whether the task may start now. tasks: all of the run. A dependency that is no task of the run holds nothing back: its
 * source has seen to it. */
enum task_wait task_wait(const struct task_row *task, struct task_row *const *tasks, size_t count);

/* The task to start next, by position; NULL: none can. */
struct task_row *task_next(struct task_row *const *tasks, size_t count);

/* Why it does not start, malloc'd: "depends on a, which failed"; NULL: nothing holds it. */
char *task_reason(const struct task_row *task, struct task_row *const *tasks, size_t count);

/* ids as the JSON array of task_row.depends_on, malloc'd; NULL when there is none. */
char *task_depends(char *const *ids);

#endif
