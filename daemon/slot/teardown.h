/* SPDX-License-Identifier: MIT */
/* Teardown of an ended slot. row->leaving is its progress. */
#ifndef SLOT_TEARDOWN_H
#define SLOT_TEARDOWN_H

struct slot;
struct stage_result;
struct txn;

void leave_begin(struct txn *txn, struct slot *slot);
/* Start the operation of row->leaving; nothing if the teardown is complete. */
void leave_act(struct slot *slot);
/* The operation of row->leaving is over: start the next one. */
void leave_result(struct txn *txn, struct slot *slot, const struct stage_result *done);

#endif
