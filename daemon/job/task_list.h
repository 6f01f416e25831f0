/* SPDX-License-Identifier: MIT */
/* The tasks of a run for clients: one object per task, with its state, what was done for it, and
 * why it ended or waits. Pure. */
#ifndef JOB_TASK_LIST_H
#define JOB_TASK_LIST_H

#include <jansson.h>

#include "model/view.h"

/* An array of the object Task of the protocol, in the order of the source. Needs tasks, slots,
 * attempts and holds. New reference. */
json_t *task_list_make(const struct run_rows *rows);

#endif
