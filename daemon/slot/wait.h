/* SPDX-License-Identifier: MIT */
/* What a fault of the host, or of a task source, holds up. */
#ifndef SLOT_WAIT_H
#define SLOT_WAIT_H

#include <stdint.h>

#include "core/state.h"

struct slot;
struct txn;

/* The row of the slot says what it waits for, in words that name the place; error: the errno of a
 * fault of the host. Told once; what the slot does meanwhile is the caller's. */
void slot_waits(struct txn *txn, struct slot *slot, enum wait_kind kind, int error, const char *why);
/* The same, and the operation of the slot begins again at the time of the next try. */
void slot_wait(struct txn *txn, struct slot *slot, enum wait_kind kind, int error, const char *why);
/* That has passed, or it is not waited for any more. Nothing, when the slot did not wait. */
void slot_wait_over(struct txn *txn, struct slot *slot);
/* For how long already, also while it is tried again; 0: it does not wait. */
int64_t slot_waited_ms(struct slot *slot);
/* The run is cancelled: what a slot at its end still has to give back is tried once
 * more, at once. */
void slot_wait_ends(struct slot *slot);

#endif
