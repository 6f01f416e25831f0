/* SPDX-License-Identifier: MIT */
/* An operation, step by step. */
#ifndef SLOT_OPERATION_H
#define SLOT_OPERATION_H

#include "core/row.h"
#include "model/slots.h"
#include "record/exit_record.h"

struct slot;

/* The operation is slot->op: ask it for its first step. */
void step_first(struct slot *slot);
void step_launch(struct slot *slot);
void step_refused(struct slot *slot, int status, const char *error);	/* status: errno, 0: none */
/* The same as attempt_renumber(). */
void step_renumber(struct slot *slot);
void step_ended(struct slot *slot, const struct exit_record *record);
/* The step's process is gone without a trace: the operation is run again, three times at most. */
void step_lost(struct slot *slot);

#endif
