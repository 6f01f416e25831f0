/* SPDX-License-Identifier: MIT */
/* Holds: a slot waits for a decision. */
#ifndef SLOT_HOLD_H
#define SLOT_HOLD_H

#include <stdbool.h>

#include "core/row.h"

struct run;
struct slot;
struct txn;

void hold_open(struct txn *txn, struct slot *slot, enum hold_kind kind, const char *reason);
/* by NULL: not by a user. */
void hold_set_state(struct txn *txn, struct slot *slot, const struct hold_row *hold,
    enum hold_state state, const char *by, const char *message);
/* A decision without words. */
bool hold_is_silent(const char *message);
/* After rework: continue the slot. */
void hold_go_on(struct txn *txn, struct slot *slot, const struct hold_row *hold);
/* Close the slot's open hold, if any. */
void hold_close(struct txn *txn, struct slot *slot, enum hold_state state, const char *by, const char *message);
/* Continue the slots that were reworked while the run had no permit. */
void hold_resume(struct txn *txn, struct run *run);

#endif
