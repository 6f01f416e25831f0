/* SPDX-License-Identifier: MIT */
/* Holds: a slot waits for a human's decision. */
#ifndef SLOT_HOLD_H
#define SLOT_HOLD_H

#include "core/row.h"

struct run;
struct slot;
struct txn;

void hold_open(struct txn *txn, struct slot *slot, enum hold_kind kind, const char *reason);
/* by NULL: no human has said so. */
void hold_set_state(struct txn *txn, struct slot *slot, const struct hold_row *hold,
    enum hold_state state, const char *by, const char *message);
/* A hold that was sent back: its slot continues. */
void hold_go_on(struct txn *txn, struct slot *slot, const struct hold_row *hold);
/* Close the slot's open hold, if it has one. */
void hold_close(struct txn *txn, struct slot *slot, enum hold_state state, const char *by, const char *message);
/* The slots that were sent back while the run had no slot of the daemon go on. */
void hold_resume(struct txn *txn, struct run *run);

#endif
