/* SPDX-License-Identifier: MIT */
/* Waits because of a host fault or a task source. */
#ifndef SLOT_WAIT_H
#define SLOT_WAIT_H

#include <stdint.h>

#include "core/state.h"

struct slot;
struct txn;

/* Record in the slot's row what the slot waits for, with the place; error: errno of a host fault.
 * Reported once; the slot's activity is the caller's concern. */
void slot_waits(struct txn *txn, struct slot *slot, enum wait_kind kind, int error, const char *why);
/* Likewise, and the slot's operation starts again at the time of the next try. */
void slot_wait(struct txn *txn, struct slot *slot, enum wait_kind kind, int error, const char *why);
/* The wait is over, or no longer needed. Does nothing if the slot did not wait. */
void slot_wait_over(struct txn *txn, struct slot *slot);
/* Length of the wait so far, including retries; 0: it does not wait. */
int64_t slot_waited_ms(struct slot *slot);
/* The run is cancelled: try what is left of a teardown once more, immediately. */
void slot_wait_ends(struct slot *slot);

#endif
