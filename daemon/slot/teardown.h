/* SPDX-License-Identifier: MIT */
/* A slot that has come to its end gives back what it took. */
#ifndef SLOT_TEARDOWN_H
#define SLOT_TEARDOWN_H

struct slot;
struct txn;

void leave_begin(struct txn *txn, struct slot *slot);
void leave_act(struct slot *slot);
/* The operation of row->leaving is over. */
void leave_next(struct txn *txn, struct slot *slot, const char *error);

#endif
