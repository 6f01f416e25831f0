/* SPDX-License-Identifier: MIT */
/* Which task of a run is next: dependencies first, then the order in which the source
 * offers them. Pure.
 *
 * A dependency that is no task of the run holds nothing back: its source has seen to it. What
 * depends on a task that never passes never starts, and so does what depends on that. tasks: all of
 * the run, in any order. */
#ifndef CORE_TASKS_H
#define CORE_TASKS_H

#include <stddef.h>

#include "core/row.h"

enum task_wait {
	TASK_W_NOTHING,		/* it may start */
	TASK_W_DEPENDENCY,	/* one that it depends on has not passed yet */
	TASK_W_NEVER,		/* ... and never will */
	TASK_W_NOT_OPEN		/* it has been begun, or is over */
};

/* For each task whether it may start now, malloc'd. One walk over tasks and dependencies, with a
 * search for each of these: cheaper than task_wait() for many tasks. */
enum task_wait *task_waits(const struct task_row *const *tasks, size_t count);

/* The same for one task. */
enum task_wait task_wait(const struct task_row *task, const struct task_row *const *tasks, size_t count);

/* The first by position of those that may start now, *ready of them and limit at most;
 * malloc'd. Only those that are offered before the last of these are looked at: it is asked at
 * every turn of a run. */
const struct task_row **task_ready(const struct task_row *const *tasks, size_t count, size_t limit, size_t *ready);

/* Why each of them does not start, both malloc'd: "waits for a", "depends on a, which failed";
 * NULL: no dependency holds it. */
char **task_reasons(const struct task_row *const *tasks, size_t count);

/* ids as the JSON array of task_row.depends_on, malloc'd; NULL when there is none. */
char *task_depends(char *const *ids);

#endif
