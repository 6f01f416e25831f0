/* SPDX-License-Identifier: MIT */
/* What a slot does in the merge train: slot/train_order.h says who is in it. */
#ifndef SLOT_TRAIN_RIDE_H
#define SLOT_TRAIN_RIDE_H

#include <stdbool.h>

struct slot;
struct txn;

/* The slot's merge is held back: it waits in the train. false: it forms none. */
bool train_join(struct txn *txn, struct slot *slot);
/* The slot may act, or was found in the train at a start. Returns whether it is to check its tree
 * now; otherwise it has moved, or waits. */
bool train_look(struct slot *slot);
/* Its check has failed, the attempt of its row, perhaps by what the slots before it have made: it
 * is suspected, and waits. false: by its own work. */
bool train_suspect(struct txn *txn, struct slot *slot);
/* Its work does not fit onto that of the last in the train: it waits until that is over. */
void train_put_off(struct txn *txn, struct slot *slot);

#endif
