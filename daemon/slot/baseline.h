/* SPDX-License-Identifier: MIT */
/* The baseline: a slot of its own checks the base of the run, in a room, beside the first attempts.
 * It has no task, needs no permit and delays no attempt. A check that is red there gives a warning;
 * one that cannot be started ends the run. What it found is evidence, for all slots. */
#ifndef SLOT_BASELINE_H
#define SLOT_BASELINE_H

#include <stdbool.h>

struct attempt_row;
struct slot;
struct txn;

/* The implementer of the slot is about to start: begin the baseline of its run, unless there was
 * one, its plan has none, or all is known. */
void baseline_begin(struct slot *slot);

/* A check of the baseline is over, and the next one does not follow by itself. */
void baseline_checked(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool failed);

/* A check that is red on the base has run in the user's directory. */
void baseline_compared(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool green);

/* It has ended: slots that wait for it continue. */
void baseline_ended(struct txn *txn, struct slot *slot);

#endif
