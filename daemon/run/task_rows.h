/* SPDX-License-Identifier: MIT */
/* Rows of tasks, made from what their source has. */
#ifndef RUN_TASK_ROWS_H
#define RUN_TASK_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/row.h"
#include "task/task_op.h"

/* The first line of a text, shortened; malloc'd. */
char *task_title(const char *text);
/* A row with its text, without a position. */
struct task_row *task_row_new(int64_t run, const struct task_item *item);
/* The task has changed at its source since then. */
bool item_is_newer(const struct task_item *item, int64_t at);

#endif
