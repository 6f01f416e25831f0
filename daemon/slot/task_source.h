/* SPDX-License-Identifier: MIT */
/* Requests to a task's source. */
#ifndef SLOT_TASK_SOURCE_H
#define SLOT_TASK_SOURCE_H

#include <stdbool.h>

#include "job/operation_step.h"
#include "model/slots.h"
#include "task/task_op.h"

struct slot;
struct txn;

/* The request; its strings belong to the caller. */
void source_spec(const struct slot *slot, struct source_spec *spec);
/* The operation has failed, perhaps temporarily: start it again. */
bool source_may_pass(struct slot *slot);

#endif
