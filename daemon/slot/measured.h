/* SPDX-License-Identifier: MIT */
/* What follows from a measured tree: once when it has been measured, and again when its checks have
 * passed. */
#ifndef SLOT_MEASURED_H
#define SLOT_MEASURED_H

#include "core/review.h"
#include "core/slot.h"

struct slot;
struct txn;

/* tree: as it was measured now; the slot's row still has the one before. */
struct measure_facts measured_facts(const struct slot *slot, const char *tree);
/* Record in the answer's row what its attempt has really done. to: where the facts lead. */
void measured_record(struct txn *txn, struct slot *slot, const struct measure_facts *facts, enum slot_stage to);
/* Move there. The slot's row has the measured tree, unless to is FAILED. */
void measured_move(struct txn *txn, struct slot *slot, const struct measure_facts *facts, enum slot_stage to);
/* All checks of the measured tree have passed. */
void measured_checked(struct txn *txn, struct slot *slot);

#endif
