/* SPDX-License-Identifier: MIT */
/* An operation, step by step. */
#ifndef SLOT_OPERATION_H
#define SLOT_OPERATION_H

#include "core/cause.h"
#include "core/row.h"
#include "model/slots.h"
#include "record/exit_record.h"
#include "task/task_op.h"

struct slot;
struct txn;

/* Results of an operation, for the files above; set once, at start. */
struct operation_calls {
	void (*done)(struct txn *txn, struct slot *slot, int64_t last_step);
	void (*failed)(struct txn *txn, struct slot *slot, struct cause cause);	/* permanently */
	void (*ended)(struct txn *txn, struct slot *slot);	/* cancelled */
};

/* Ask the source of the slot's task, or of the run. */
void source_begin(struct slot *slot, enum task_op_kind kind);
/* Start the operation in slot->op with its first step. */
void step_first(struct slot *slot);
void step_launch(struct slot *slot);
void step_refused(struct slot *slot, int status, const char *error);	/* status: errno, 0: none */
/* Like attempt_renumber(). */
void step_renumber(struct slot *slot);
void step_ended(struct slot *slot, const struct exit_record *record);
/* The step's process is gone without a record: run the operation again, three times at most. */
void step_lost(struct slot *slot);

#endif
