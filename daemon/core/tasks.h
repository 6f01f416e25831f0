/* SPDX-License-Identifier: MIT */
/* Which task of a run is next: dependencies first, then the order of the source. Pure.
 *
 * A dependency that is not in the run delays nothing: its source has taken care of it. A task that
 * depends on one that never passes never starts, and so on. tasks: all tasks of the run, in any
 * order. */
#ifndef CORE_TASKS_H
#define CORE_TASKS_H

#include <stddef.h>

#include "core/row.h"

enum task_wait {
	TASK_W_NOTHING,		/* it may start */
	TASK_W_DEPENDENCY,	/* a dependency has not passed yet */
	TASK_W_NEVER,		/* ... and never will */
	TASK_W_NOT_OPEN		/* it has started, or is over */
};

/* For each task whether it may start now, malloc'd. One walk over tasks and dependencies, with a
 * search for each of these: cheaper than task_wait() for many tasks. */
enum task_wait *task_waits(const struct task_row *const *tasks, size_t count);

/* The same for one task. */
enum task_wait task_wait(const struct task_row *task, const struct task_row *const *tasks, size_t count);

/* The tasks that may start now, first by position, *ready of them and at most limit; malloc'd.
 * Tasks behind them are not examined, because every decision of a run asks this. */
const struct task_row **task_ready(const struct task_row *const *tasks, size_t count, size_t limit, size_t *ready);

/* Why each task does not start, both malloc'd: "waits for a", "depends on a, which failed"; NULL:
 * not because of a dependency. */
char **task_reasons(const struct task_row *const *tasks, size_t count);

/* The text of a new task, with its size and hash. Takes text. */
void task_set_text(struct task_row *task, char *text, size_t size);

/* ids as the JSON array of task_row.depends_on, malloc'd; NULL if empty. */
char *task_depends(char *const *ids);

#endif
