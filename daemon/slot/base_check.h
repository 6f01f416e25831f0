/* SPDX-License-Identifier: MIT */
/* The checks of the plan on the base of the work: run.check_on_base. "require" runs them before an
 * agent is paid; "warn" runs them when a check has failed, before a fixer is. */
#ifndef SLOT_BASE_CHECK_H
#define SLOT_BASE_CHECK_H

#include <stdbool.h>

#include "core/state.h"

struct attempt_row;
struct slot;
struct txn;

/* next, or the stage that checks the base before it. */
enum slot_stage base_before_work(struct txn *txn, struct slot *slot, enum slot_stage next);

/* A check of the work has failed. Whether the base is checked before a fixer begins: then the slot
 * has moved. */
bool base_before_fix(struct txn *txn, struct slot *slot, const struct attempt_row *failed);

/* A check of the base is over, in CHECKING, and none follows. red: it has failed. Returns whether a
 * fixer is to begin with slot->row->failed_check; otherwise the slot has moved. */
bool base_checked(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool red);

#endif
