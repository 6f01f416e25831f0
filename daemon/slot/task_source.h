/* SPDX-License-Identifier: MIT */
/* What is asked of a task's source. */
#ifndef SLOT_TASK_SOURCE_H
#define SLOT_TASK_SOURCE_H

#include <stdbool.h>

#include "job/operation_step.h"
#include "model/slots.h"
#include "task/task_op.h"

struct slot;
struct txn;

/* What it is; the strings are the caller's. */
void source_spec(const struct slot *slot, struct source_spec *spec);
/* The operation has failed, but may not do so later: it is to begin again. */
bool source_may_pass(struct slot *slot);

#endif
