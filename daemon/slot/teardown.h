/* SPDX-License-Identifier: MIT */
/* Teardown: a slot at its end gives back what it took. row->leaving says how far it is. */
#ifndef SLOT_TEARDOWN_H
#define SLOT_TEARDOWN_H

struct slot;
struct stage_result;
struct txn;

void leave_begin(struct txn *txn, struct slot *slot);
/* The operation of row->leaving; nothing when everything is given back. */
void leave_act(struct slot *slot);
/* That operation is over: the next one follows. */
void leave_result(struct txn *txn, struct slot *slot, const struct stage_result *done);

#endif
